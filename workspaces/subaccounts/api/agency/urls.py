"""The agency API's routes for sub-accounts."""

from django.urls import path

from workspaces.subaccounts.api.agency.keys import SubAccountKeyViewSet
from workspaces.subaccounts.api.agency.views import HeldAddonViewSet, SubAccountChannelViewSet, SubAccountViewSet

urlpatterns = [
    path("workspaces", SubAccountViewSet.as_view({"get": "list", "post": "create"}), name="workspaces-list"),
    path(
        "workspaces/<id:workspace>",
        SubAccountViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="workspaces-detail",
    ),
    path("workspaces/<id:workspace>/owner", SubAccountViewSet.as_view({"put": "owner"}), name="workspaces-owner"),
    path("workspaces/<id:workspace>/plan", SubAccountViewSet.as_view({"put": "plan"}), name="workspaces-plan"),
    path(
        "workspaces/<id:workspace>/restore", SubAccountViewSet.as_view({"post": "restore"}), name="workspaces-restore"
    ),
    path(
        "workspaces/<id:workspace>/suspend", SubAccountViewSet.as_view({"post": "suspend"}), name="workspaces-suspend"
    ),
    path("workspaces/<id:workspace>/usage", SubAccountViewSet.as_view({"get": "usage"}), name="workspaces-usage"),
    path(
        "workspaces/<id:workspace>/addons",
        HeldAddonViewSet.as_view({"get": "list", "post": "create"}),
        name="workspaces-addons-list",
    ),
    path(
        "workspaces/<id:workspace>/channels",
        SubAccountChannelViewSet.as_view({"get": "list"}),
        name="workspaces-channels-list",
    ),
    path(
        "workspaces/<id:workspace>/api-keys",
        SubAccountKeyViewSet.as_view({"get": "list", "post": "create"}),
        name="workspaces-api-keys-list",
    ),
    path(
        "workspaces/<id:workspace>/owner/invite",
        SubAccountViewSet.as_view({"post": "invite_owner"}),
        name="workspaces-invite-owner",
    ),
    path(
        "workspaces/<id:workspace>/addons/<id:addon>",
        HeldAddonViewSet.as_view({"delete": "destroy"}),
        name="workspaces-addons-detail",
    ),
    path(
        "workspaces/<id:workspace>/channels/<id:channel>",
        SubAccountChannelViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
        name="workspaces-channels-detail",
    ),
    path(
        "workspaces/<id:workspace>/api-keys/<id:key>",
        SubAccountKeyViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
        name="workspaces-api-keys-detail",
    ),
    path(
        "workspaces/<id:workspace>/api-keys/<id:key>/roll",
        SubAccountKeyViewSet.as_view({"post": "roll"}),
        name="workspaces-api-keys-roll",
    ),
]
