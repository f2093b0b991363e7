"""Console pages about sub-accounts' broadcasts, below `/console/` and in the console's namespace."""

from django.urls import path

from broadcasts.console import views

urlpatterns = [
    path("broadcasts", views.Broadcasts.as_view(), name="broadcasts"),
    path("broadcasts/<id:uuid>", views.BroadcastPage.as_view(), name="broadcast"),
]
