"""Paths of the workspace API about broadcasts."""

from django.urls import path

from broadcasts.api.workspace.moves import ApproveViewSet, CancelViewSet, PauseViewSet, ResumeViewSet, ScheduleViewSet
from broadcasts.api.workspace.previews import BroadcastPreviewViewSet, PreviewViewSet
from broadcasts.api.workspace.views import BroadcastTestViewSet, BroadcastViewSet, RecipientViewSet

urlpatterns = [
    path("broadcasts", BroadcastViewSet.as_view({"get": "list", "post": "create"}), name="broadcasts-list"),
    path("broadcasts/preview", PreviewViewSet.as_view({"post": "create"}), name="broadcasts-preview-list"),
    path(
        "broadcasts/<id:broadcast>",
        BroadcastViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="broadcasts-detail",
    ),
    path(
        "broadcasts/<id:broadcast>/recipients",
        RecipientViewSet.as_view({"get": "list"}),
        name="broadcasts-recipients-list",
    ),
    path(
        "broadcasts/<id:broadcast>/test", BroadcastTestViewSet.as_view({"post": "create"}), name="broadcasts-test-list"
    ),
    path(
        "broadcasts/<id:broadcast>/schedule",
        ScheduleViewSet.as_view({"post": "create"}),
        name="broadcasts-schedule-list",
    ),
    path(
        "broadcasts/<id:broadcast>/approve", ApproveViewSet.as_view({"post": "create"}), name="broadcasts-approve-list"
    ),
    path("broadcasts/<id:broadcast>/pause", PauseViewSet.as_view({"post": "create"}), name="broadcasts-pause-list"),
    path("broadcasts/<id:broadcast>/resume", ResumeViewSet.as_view({"post": "create"}), name="broadcasts-resume-list"),
    path("broadcasts/<id:broadcast>/cancel", CancelViewSet.as_view({"post": "create"}), name="broadcasts-cancel-list"),
    path(
        "broadcasts/<id:broadcast>/preview",
        BroadcastPreviewViewSet.as_view({"post": "create"}),
        name="broadcasts-broadcast-preview-list",
    ),
]
