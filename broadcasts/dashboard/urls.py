"""The dashboard's pages about broadcasts, below `/app/` and in the namespace `app`."""

from django.urls import path

from broadcasts.dashboard import broadcasts, composer, confirming, recipients

urlpatterns = [
    path("broadcasts", broadcasts.Broadcasts.as_view(), name="broadcasts"),
    path("broadcasts/new", composer.BroadcastNew.as_view(), name="broadcast-new"),
    path("broadcasts/<id:uuid>", broadcasts.BroadcastPage.as_view(), name="broadcast"),
    path("broadcasts/<id:uuid>/edit", composer.BroadcastEdit.as_view(), name="broadcast-edit"),
    path("broadcasts/<id:uuid>/preview", composer.BroadcastPreview.as_view(), name="broadcast-preview"),
    path("broadcasts/<id:uuid>/test", composer.BroadcastTest.as_view(), name="broadcast-test"),
    path("broadcasts/<id:uuid>/recipients", recipients.BroadcastRecipients.as_view(), name="broadcast-recipients"),
    path("broadcasts/<id:uuid>/export", recipients.RecipientsExport.as_view(), name="broadcast-export"),
    path("broadcasts/<id:uuid>/schedule", confirming.BroadcastSchedule.as_view(), name="broadcast-schedule"),
    path("broadcasts/<id:uuid>/approve", confirming.BroadcastApprove.as_view(), name="broadcast-approve"),
    path("broadcasts/<id:uuid>/pause", broadcasts.BroadcastPause.as_view(), name="broadcast-pause"),
    path("broadcasts/<id:uuid>/resume", broadcasts.BroadcastResume.as_view(), name="broadcast-resume"),
    path("broadcasts/<id:uuid>/cancel", broadcasts.BroadcastCancel.as_view(), name="broadcast-cancel"),
    path("broadcasts/<id:uuid>/delete", broadcasts.BroadcastDelete.as_view(), name="broadcast-delete"),
    path("broadcasts/<id:uuid>/duplicate", broadcasts.BroadcastDuplicate.as_view(), name="broadcast-duplicate"),
]
