"""Paths of the agency surface about connecting channels."""

from django.urls import path

from channelconnect.api.agency.views import ConnectionViewSet, ConnectSettingsViewSet
from config.api.routers import SurfaceRouter

router = SurfaceRouter()
router.register("workspaces/<id:workspace>/channel-connections", ConnectionViewSet, basename="connection")
urlpatterns = [
    path(
        "channel-connect/settings",
        ConnectSettingsViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="connect-settings",
    ),
    *router.urls,
]
