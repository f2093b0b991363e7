"""This app's parts of the console's page of a sub-account: its people, its API keys, and an owner who is missing."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.registry import Alert
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.pages.home import WorkspaceConcernSource
from workspaces.subaccounts.pages.hub import Column, HubContent, HubPanel, HubRow, opened_as_customer
from workspaces.subaccounts.services import owner_state, waiting_invitations
from workspaces.subaccounts.services.people.owners import OwnerState


def _members(workspace: Workspace, most: int) -> Iterator[HubRow]:
    for member in workspace.members.select_related("user").order_by("created_at", "id")[:most]:
        yield HubRow(
            title=member.user.name or member.user.email,
            detail=member.user.email if member.user.name else "",
            status_label=_("Member"),
        )


def _invited(workspace: Workspace, most: int) -> Iterator[HubRow]:
    now = timezone.now()
    for invitation in waiting_invitations(workspace).order_by("created_at", "id")[:most]:
        is_over = invitation.expires_at <= now
        yield HubRow(
            title=invitation.name or invitation.email,
            detail=invitation.email if invitation.name else "",
            status_label=_("Invitation expired") if is_over else _("Invited"),
            tone="warning" if is_over else "",
        )


def people(workspace: Workspace, most: int) -> HubContent:
    """Show members, then invited people. The owner has a separate panel."""
    return HubContent(
        rows=chain(_members(workspace, most), _invited(workspace, most)),
        empty=_("Nobody but the owner. The owner invites people in the dashboard."),
        actions=opened_as_customer(workspace, "app:people", label=_("Open People as customer")),
    )


def _live_keys(workspace: Workspace, most: int) -> Iterator[HubRow]:
    keys = WorkspaceKey.objects.filter(workspace=workspace).live().order_by("-id")
    for key in keys.only("id", "name", "prefix", "last_used_at", "workspace")[:most]:
        yield HubRow(
            title=key.name,
            detail=f"{key.prefix}…",
            at=key.last_used_at,
            at_label=_("Last used") if key.last_used_at else _("Never used"),
        )


def keys(workspace: Workspace, most: int) -> HubContent:
    """Show the live keys by their first characters. The rest of a key is not stored."""
    return HubContent(
        rows=_live_keys(workspace, most),
        empty=_("No API keys. The owner creates them in the dashboard when a system is to be connected."),
        actions=opened_as_customer(workspace, "app:api-keys", label=_("Open REST API as customer")),
    )


def owner_concerns(workspace: Workspace) -> Iterator[Alert]:
    """Warn that the owner has not accepted yet, without revealing whether they have an account elsewhere."""
    if owner_state(workspace) is not OwnerState.SIGNED_UP:
        yield Alert(
            text=_("%(owner)s has not accepted the ownership yet.") % {"owner": workspace.owner_name},
            url="#owner",
            action=_("Owner"),
        )


PANELS: Final = (
    HubPanel(name="people", label=gettext_lazy("People"), order=30, content=people, column=Column.SIDE),
    HubPanel(name="keys", label=gettext_lazy("API keys"), order=40, content=keys, column=Column.SIDE),
)
CONCERNS: Final = (WorkspaceConcernSource(name="owner", order=10, concerns=owner_concerns),)
