"""The workspace API's routes for the workspace and its channels."""

from django.urls import path

from workspaces.subaccounts.api.workspace.views import ChannelViewSet, CurrentWorkspaceViewSet

urlpatterns = [
    path(
        "workspace", CurrentWorkspaceViewSet.as_view({"get": "retrieve", "patch": "partial_update"}), name="workspace"
    ),
    path("channels", ChannelViewSet.as_view({"get": "list"}), name="channels-list"),
    path("channels/<id:channel>", ChannelViewSet.as_view({"get": "retrieve"}), name="channels-detail"),
]
