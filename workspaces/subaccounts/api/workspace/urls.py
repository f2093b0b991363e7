"""Paths of the workspace surface about the workspace itself."""

from django.urls import path

from workspaces.subaccounts.api.workspace.channels import ChannelViewSet

urlpatterns = [
    path("channels", ChannelViewSet.as_view({"get": "list"}), name="channels"),
    path("channels/<id:channel>", ChannelViewSet.as_view({"get": "retrieve"}, paginated=False), name="channel"),
]
