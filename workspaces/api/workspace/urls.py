"""Paths of the workspace surface that the workspace itself answers."""

from django.urls import path

from workspaces.api.workspace.automations import AutomationViewSet
from workspaces.api.workspace.channels import ChannelViewSet

urlpatterns = [
    path("channels", ChannelViewSet.as_view({"get": "list"}), name="channels"),
    path("channels/<id:channel>", ChannelViewSet.as_view({"get": "retrieve"}, paginated=False), name="channel"),
    path("automations", AutomationViewSet.as_view({"get": "list"}), name="automations"),
    path(
        "automations/<id:automation>",
        AutomationViewSet.as_view({"get": "retrieve"}, paginated=False),
        name="automation",
    ),
]
