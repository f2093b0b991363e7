"""Paths of the agency surface about connecting channels."""

from django.urls import path

from channelconnect.api.agency.views import ConnectionViewSet, ConnectSettingsViewSet

SESSIONS = "workspaces/<id:workspace>/channel-connections"

urlpatterns = [
    path(
        "channel-connect/settings",
        ConnectSettingsViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="connect-settings",
    ),
    path(SESSIONS, ConnectionViewSet.as_view({"get": "list", "post": "create"}), name="connections"),
    path(f"{SESSIONS}/<id:connection>", ConnectionViewSet.as_view({"get": "retrieve"}), name="connection"),
    path(
        f"{SESSIONS}/<id:connection>/cancel",
        ConnectionViewSet.as_view({"post": "cancel"}, body_optional=True),
        name="connection-cancel",
    ),
]
