"""Paths of the agency API about connecting channels."""

from django.urls import path

from channelconnect.api.agency.views import ConnectionViewSet, ConnectSettingsViewSet

urlpatterns = [
    path(
        "channel-connect/settings",
        ConnectSettingsViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="channel-connect-settings",
    ),
    path(
        "workspaces/<id:workspace>/channel-connections",
        ConnectionViewSet.as_view({"get": "list", "post": "create"}),
        name="workspaces-channel-connections-list",
    ),
    path(
        "workspaces/<id:workspace>/channel-connections/<id:connection>",
        ConnectionViewSet.as_view({"get": "retrieve"}),
        name="workspaces-channel-connections-detail",
    ),
    path(
        "workspaces/<id:workspace>/channel-connections/<id:connection>/cancel",
        ConnectionViewSet.as_view({"post": "cancel"}),
        name="workspaces-channel-connections-cancel",
    ),
]
