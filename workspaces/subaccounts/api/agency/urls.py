"""Paths of the agency surface about sub-accounts."""

from django.urls import path

from workspaces.subaccounts.api.agency.subscriptions import (
    HeldAddonViewSet,
    SubscriptionViewSet,
    WorkspaceChannelViewSet,
)
from workspaces.subaccounts.api.agency.workspaces import WorkspaceViewSet

urlpatterns = [
    path("workspaces", WorkspaceViewSet.as_view({"get": "list", "post": "create"}), name="workspaces"),
    path(
        "workspaces/<id:workspace>",
        WorkspaceViewSet.as_view({"get": "retrieve", "patch": "partial_update"}, paginated=False),
        name="workspace",
    ),
    path(
        "workspaces/<id:workspace>/suspend",
        WorkspaceViewSet.as_view({"post": "suspend"}, body_optional=True),
        name="workspace-suspend",
    ),
    path(
        "workspaces/<id:workspace>/restore",
        WorkspaceViewSet.as_view({"post": "restore"}, body_optional=True),
        name="workspace-restore",
    ),
    path("workspaces/<id:workspace>/plan", SubscriptionViewSet.as_view({"put": "update"}), name="workspace-plan"),
    path(
        "workspaces/<id:workspace>/addons",
        HeldAddonViewSet.as_view({"get": "list", "post": "create"}),
        name="workspace-addons",
    ),
    path(
        "workspaces/<id:workspace>/addons/<id:addon>",
        HeldAddonViewSet.as_view({"delete": "destroy"}),
        name="workspace-addon",
    ),
    path(
        "workspaces/<id:workspace>/channels",
        WorkspaceChannelViewSet.as_view({"get": "list"}),
        name="workspace-channels",
    ),
    path(
        "workspaces/<id:workspace>/channels/<id:channel>",
        WorkspaceChannelViewSet.as_view({"get": "retrieve"}),
        name="workspace-channel",
    ),
]
