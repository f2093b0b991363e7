"""This app's panels, search results, chart and use of limits, on pages of the console, the dashboard and support."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final
from uuid import UUID

from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency import limits
from agency.models import ActivityEntry, Agency
from agency.pages.charts import BucketStart, Period, Series
from agency.pages.registry import Alert, StrOrPromise
from agency.pages.search import (
    ResultAction,
    SearchResult,
    SupportPanel,
    SupportRow,
    SupportSearchSource,
    SupportStartPanel,
    digits_of_phone,
    key_prefix,
)
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace, WorkspaceKey
from workspaces.subaccounts.pages.registry import (
    Column,
    HubContent,
    HubPanel,
    HubRow,
    WorkspaceConcernSource,
    opened_as_customer,
)
from workspaces.subaccounts.services import owner_state, waiting_invitations
from workspaces.subaccounts.services.limit_usage import LEAST_LIMIT, count_usage
from workspaces.subaccounts.services.listing import find_channels, find_workspaces
from workspaces.subaccounts.services.owners import OwnerState


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


def people_panel(workspace: Workspace, most: int) -> HubContent:
    """Show members, then invited people. The owner has a separate panel."""
    return HubContent(
        rows=chain(_members(workspace, most), _invited(workspace, most)),
        empty=_("Nobody but the owner."),
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


def keys_panel(workspace: Workspace, most: int) -> HubContent:
    """Show the live keys by their first characters. The rest of a key is not stored."""
    return HubContent(
        rows=_live_keys(workspace, most),
        empty=_("None."),
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


def channel_concerns(workspace: Workspace) -> Iterator[Alert]:
    """Warn that no channel is connected, as the list of sub-accounts does."""
    if not workspace.channels.exclude(status=Channel.Status.DISCONNECTED).exists():
        yield Alert(text=_("No channel is connected."), url="#channels", action=_("Channels"))


HUB_PANELS: Final = (
    HubPanel(name="people", label=gettext_lazy("People"), order=30, content=people_panel, column=Column.SIDE),
    HubPanel(name="keys", label=gettext_lazy("API keys"), order=40, content=keys_panel, column=Column.SIDE),
)
HUB_CONCERNS: Final = (
    WorkspaceConcernSource(name="owner", order=10, concerns=owner_concerns),
    WorkspaceConcernSource(name="no channel", order=15, concerns=channel_concerns),
)


WHEN: Final = "%Y-%m-%d %H:%M UTC"
# No network gives a channel a shorter id.
SHORTEST_CHANNEL_ID: Final = 5
VIEW_PERMISSION: Final = "subaccounts.view_workspace"


def newest_workspaces(agency: Agency, most: int) -> Iterator[SupportRow]:
    for workspace in Workspace.objects.of(agency).newest_first()[:most]:
        yield support_row_of(workspace, f"{workspace.owner_email} · since {workspace.created_at:%Y-%m-%d}")


def support_row_of(workspace: Workspace, detail: str) -> SupportRow:
    return SupportRow(
        title=workspace.name,
        detail=detail if workspace.is_active else f"Suspended · {detail}",
        url=reverse("admin:subaccounts_workspace_change", args=[workspace.pk]),
        is_problem=not workspace.is_active,
    )


def broken_channels_for_support(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Give channels that their provider has closed. A partial index holds exactly these."""
    rows = Channel.objects.filter(status=Channel.Status.ERROR, workspace__agency=agency)
    return _broken_rows(rows, most)


def all_broken_channels(most: int) -> Iterator[SupportRow]:
    return _broken_rows(Channel.objects.filter(status=Channel.Status.ERROR), most)


def _broken_rows(rows: "QuerySet[Channel]", most: int) -> Iterator[SupportRow]:
    """Give each channel with its sub-account, and the cause and the time of its loss."""
    found = list(rows.select_related("workspace__agency").order_by("workspace", "id")[:most])
    losses = losses_of(found)
    for channel in found:
        place = f"{channel.workspace} · {channel.workspace.agency}"
        yield SupportRow(
            title=channel_title(channel),
            detail=" · ".join(filter(None, [place, loss_text(losses.get(channel.pk))])),
            url=reverse("admin:subaccounts_channel_change", args=[channel.pk]),
            is_problem=channel.status == Channel.Status.ERROR,
        )


def channel_title(channel: Channel) -> str:
    return f"{CHANNEL_NAMES[channel.platform]} {channel.handle or channel.name}"


MOST_LOSSES: Final = 200


def losses_of(channels: Sequence[Channel]) -> dict[int, ActivityEntry]:
    """Give the latest entry about the loss of each channel, by the channel's primary key, in one statement."""
    uuids = {channel.workspace.uuid for channel in channels}
    entries = ActivityEntry.objects.filter(workspace_uuid__in=uuids, action="channel.lost").order_by("-id")
    by_channel: dict[tuple[UUID | None, str, str], ActivityEntry] = {}
    for entry in entries[:MOST_LOSSES] if uuids else ():
        key = (entry.workspace_uuid, entry.details.get("platform", ""), entry.details.get("name", ""))
        by_channel.setdefault(key, entry)
    found = {one.pk: by_channel.get((one.workspace.uuid, one.platform, one.name)) for one in channels}
    return {pk: entry for pk, entry in found.items() if entry is not None}


def loss_text(entry: ActivityEntry | None) -> str:
    return f"{entry.details.get('reason', '')} · {entry.at:{WHEN}}".lstrip(" ·") if entry else ""


def suspended_workspaces(most: int) -> Iterator[SupportRow]:
    rows = Workspace.objects.filter(status=Workspace.Status.SUSPENDED).select_related("agency")
    for workspace in rows.order_by("-suspended_at")[:most]:
        known = (str(workspace.agency), f"since {workspace.suspended_at:{WHEN}}", workspace.suspension_reason)
        yield SupportRow(
            title=workspace.name,
            detail=" · ".join(filter(None, known)),
            url=reverse("admin:subaccounts_workspace_change", args=[workspace.pk]),
            is_problem=True,
        )


def channel_results_for_support(query: str, most: int) -> Iterator[SupportRow]:
    if len(query) < SHORTEST_CHANNEL_ID:
        return
    for channel in find_channels(None, query, digits=digits_of_phone(query), most=most):
        yield SupportRow(
            title=channel_title(channel),
            detail=f"{channel.workspace} · {channel.workspace.agency} · {channel.get_status_display()}",
            url=reverse("admin:subaccounts_channel_change", args=[channel.pk]),
            is_problem=channel.status == Channel.Status.ERROR,
        )


def workspace_results_for_support(query: str, most: int) -> Iterator[SupportRow]:
    for workspace in find_workspaces(None, query, digits=digits_of_phone(query), most=most):
        known = (str(workspace.agency), workspace.owner_email, workspace.external_id or "")
        yield support_row_of(workspace, " · ".join(filter(None, known)))


def key_results_for_support(query: str, most: int) -> Iterator[SupportRow]:
    prefix = key_prefix(query)
    rows = WorkspaceKey.objects.filter(prefix=prefix).select_related("workspace__agency").order_by("-id")
    for key in rows[:most] if prefix else ():
        place = f"{key.workspace} · {key.workspace.agency}" if key.workspace else "The sub-account was removed"
        yield SupportRow(
            title=f"{key.name} ({key.prefix}…)",
            detail=f"{place}{'' if key.is_live else f' · {key.state}'}",
            url=reverse("admin:subaccounts_workspacekey_change", args=[key.pk]),
        )


SUPPORT_PANELS: Final = (
    SupportPanel(
        name="workspaces",
        label="Sub-accounts",
        order=30,
        permission=VIEW_PERMISSION,
        rows=newest_workspaces,
        url_name="admin:subaccounts_workspace_changelist",
        is_searched=True,
    ),
    SupportPanel(
        name="broken-channels",
        label="Broken channels",
        order=32,
        permission="subaccounts.view_channel",
        rows=broken_channels_for_support,
    ),
)
SUPPORT_START_PANELS: Final = (
    SupportStartPanel(
        name="suspended-workspaces",
        label="Suspended sub-accounts",
        order=20,
        permission=VIEW_PERMISSION,
        rows=suspended_workspaces,
        url_name="admin:subaccounts_workspace_changelist",
    ),
    SupportStartPanel(
        name="broken-channels",
        label="Broken channels",
        order=30,
        permission="subaccounts.view_channel",
        rows=all_broken_channels,
        url_name="admin:subaccounts_channel_changelist",
    ),
)
SUPPORT_FIND_SOURCES: Final = (
    SupportSearchSource(
        name="channels",
        label="Channels",
        order=35,
        permission="subaccounts.view_channel",
        find=channel_results_for_support,
    ),
    SupportSearchSource(
        name="workspaces",
        label="Sub-accounts",
        order=30,
        permission=VIEW_PERMISSION,
        find=workspace_results_for_support,
    ),
    SupportSearchSource(
        name="workspace-keys",
        label="Sub-accounts' API keys",
        order=42,
        permission="subaccounts.view_workspacekey",
        find=key_results_for_support,
    ),
)


def workspace_results(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    for workspace in find_workspaces(agency, query, digits=digits_of_phone(query), most=most):
        yield SearchResult(
            title=workspace.name,
            detail=" · ".join(filter(None, _details(workspace))),
            url=reverse("console:sub-account", args=[workspace.uuid]),
            actions=tuple(_actions(workspace)),
        )


def _actions(workspace: Workspace) -> Iterator[ResultAction]:
    """Give the most frequent actions on a sub-account. Only the sub-account's page has the button to restore it."""
    names = [("plan", _("Assign plan")), ("edit", _("Edit")), ("owner", _("Owner")), ("activity", _("Activity"))]
    for name, label in [("suspend", _("Suspend")), *names] if workspace.is_active else names:
        yield ResultAction(url_name=f"console:sub-account-{name}", label=label, args=(workspace.uuid,))


def _details(workspace: Workspace) -> Iterator[str]:
    """Give the details that tell sub-accounts of the same name apart."""
    if not workspace.is_active:
        yield _("Suspended")
    yield workspace.owner_name
    yield workspace.owner_email
    yield workspace.external_id or ""
    yield workspace.phone


def channel_results(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    if len(query) < SHORTEST_CHANNEL_ID:
        return
    for channel in find_channels(agency, query, digits=digits_of_phone(query), most=most):
        yield SearchResult(
            title=channel.handle or channel.name,
            detail=f"{CHANNEL_NAMES[channel.platform]} · {channel.workspace.name}",
            url=reverse("console:sub-account", args=[channel.workspace.uuid]),
        )


def new_workspaces(agency: Agency, period: Period) -> Sequence[Series]:
    """Count the sub-accounts created in each step of the period, from the index on their times."""
    rows = Workspace.objects.of(agency).filter(created_at__gte=period.start).order_by()
    counted = rows.annotate(step=BucketStart("created_at", period)).values_list("step").annotate(number=Count("*"))
    return [Series(label=gettext_lazy("created"), counts=dict(counted))]


@dataclass(frozen=True, slots=True)
class LimitUsage:
    """A limit with its label, how much is used, and how much is allowed; None means no limit."""

    label: StrOrPromise
    used: int
    allowed: int | None

    @property
    def is_reached(self) -> bool:
        """Say whether there is no room left. A limit with nothing used, such as 0, is not reached."""
        return self.allowed is not None and self.used >= self.allowed and self.used > 0

    @property
    def is_meant_to_be_full(self) -> bool:
        """Say whether the limit is so small that it is meant to be used up, such as one number."""
        return self.allowed is not None and self.allowed < LEAST_LIMIT

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is used and nothing is limited. The console's page shows such lines apart."""
        return self.used == 0 and self.allowed is None


def limit_usages(workspace: Workspace) -> list[LimitUsage]:
    """Give every limit with how much of it is used."""
    used = count_usage(workspace)
    return [
        LimitUsage(label, used[name], limits.value(workspace.limits, name)) for name, label in limits.LABELS.items()
    ]
