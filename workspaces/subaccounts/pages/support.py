"""Support's panels about an agency's sub-accounts and channels, and its search in all agencies' sub-accounts."""

from collections.abc import Iterator
from typing import Final

from django.urls import reverse

from agency.models import Agency
from agency.pages.search import SupportPanel, SupportRow, SupportSearchSource, digits_of_phone, key_prefix
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, WorkspaceKey
from workspaces.subaccounts.models.workspaces import Workspace
from workspaces.subaccounts.services.finding import find_workspaces

VIEW: Final = "subaccounts.view_workspace"


def newest(agency: Agency, most: int) -> Iterator[SupportRow]:
    for workspace in Workspace.objects.of(agency).newest_first()[:most]:
        yield row_of(workspace, f"{workspace.owner_email} · since {workspace.created_at:%Y-%m-%d}")


def row_of(workspace: Workspace, detail: str) -> SupportRow:
    return SupportRow(
        title=workspace.name,
        detail=detail if workspace.is_active else f"Suspended · {detail}",
        url=reverse("admin:subaccounts_workspace_change", args=[workspace.pk]),
        is_problem=not workspace.is_active,
    )


def broken_channels(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Give channels that their provider has closed. A partial index holds exactly these."""
    rows = Channel.objects.filter(status=Channel.Status.ERROR, workspace__agency=agency).select_related("workspace")
    for channel in rows.order_by("workspace", "id")[:most]:
        yield SupportRow(
            title=f"{CHANNEL_NAMES[channel.platform]} {channel.handle or channel.name}",
            detail=channel.workspace.name,
            url=reverse("admin:subaccounts_channel_change", args=[channel.pk]),
            is_problem=True,
        )


def found_workspaces(query: str, most: int) -> Iterator[SupportRow]:
    for workspace in find_workspaces(None, query, digits=digits_of_phone(query), most=most):
        known = (str(workspace.agency), workspace.owner_email, workspace.external_id or "")
        yield row_of(workspace, " · ".join(filter(None, known)))


def found_keys(query: str, most: int) -> Iterator[SupportRow]:
    prefix = key_prefix(query)
    rows = WorkspaceKey.objects.filter(prefix=prefix).select_related("workspace__agency").order_by("-id")
    for key in rows[:most] if prefix else ():
        place = f"{key.workspace} · {key.workspace.agency}" if key.workspace else "The sub-account was removed"
        yield SupportRow(
            title=f"{key.name} ({key.prefix}…)",
            detail=f"{place}{'' if key.is_live else f' · {key.state}'}",
            url=reverse("admin:subaccounts_workspacekey_change", args=[key.pk]),
        )


PANELS: Final = (
    SupportPanel(
        name="workspaces",
        label="Sub-accounts",
        order=30,
        permission=VIEW,
        rows=newest,
        url_name="admin:subaccounts_workspace_changelist",
        is_searched=True,
    ),
    SupportPanel(
        name="broken-channels",
        label="Broken channels",
        order=32,
        permission="subaccounts.view_channel",
        rows=broken_channels,
    ),
)
SOURCES: Final = (
    SupportSearchSource(name="workspaces", label="Sub-accounts", order=30, permission=VIEW, find=found_workspaces),
    SupportSearchSource(
        name="workspace-keys",
        label="Sub-accounts' API keys",
        order=42,
        permission="subaccounts.view_workspacekey",
        find=found_keys,
    ),
)
