"""Panels about broadcasts on a sub-account's page and in support's admin, and the tables of broadcasts."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import Agency
from agency.pages.registry import Alert
from agency.pages.search import SupportPanel, SupportRow
from agency.pages.tables import Column, Filter, Table, TableState
from broadcasts.models import Broadcast
from broadcasts.pages.labels import COLOURS, RECIPIENT_STATUS_LABELS, STATUS_LABELS, bar_segments
from broadcasts.pages.message_preview import progress_with_skipped
from broadcasts.services.counts import counts_of
from broadcasts.services.listing import with_progress
from broadcasts.services.moving import BROKE_OFF
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.registry import (
    HubContent,
    HubPanel,
    HubRow,
    WorkspaceConcernSource,
    opened_as_customer,
)

# A paused broadcast older than the newest 20 is no longer a concern.
NEWEST: Final = 20
MOST_NAMED: Final = 3
TONES: Final = {"sending": "warning", "paused": "bad", "sent": "good"}


def _rows(workspace: Workspace, most: int) -> Iterator[HubRow]:
    rows = list(Broadcast.objects.of(workspace).newest_first().defer("audience", "message", "frozen")[:most])
    counts = counts_of(rows)
    for broadcast in rows:
        yield HubRow(
            title=broadcast.name,
            detail=_progress(broadcast, counts[broadcast.pk]),
            at=broadcast.started_at or broadcast.created_at,
            url=reverse("console:broadcast", args=[broadcast.uuid]),
            status_label=broadcast.get_status_display(),
            tone=TONES.get(broadcast.status, ""),
        )


def _progress(broadcast: Broadcast, counts: dict[str, int]) -> str:
    """Say how many recipients are done and how many failed; empty before the broadcast begins."""
    if broadcast.started_at is None:
        return ""
    total = sum(counts[name] for name in ("pending", "sent", "delivered", "read", "failed", "skipped"))
    shown = {"done": f"{total - counts['pending']:,}", "total": f"{total:,}", "failed": f"{counts['failed']:,}"}
    if counts["failed"]:
        return _("%(done)s of %(total)s done, %(failed)s failed") % shown
    return _("%(done)s of %(total)s done") % shown


def broadcasts(workspace: Workspace, most: int) -> HubContent:
    return HubContent(
        rows=_rows(workspace, most),
        empty=_("None."),
        actions=opened_as_customer(workspace, "app:broadcasts", label=_("Open Broadcasts as customer")),
    )


def paused_broadcasts(workspace: Workspace) -> Iterator[Alert]:
    """Yield a concern for each paused broadcast among the newest, whether a fault or a person paused it."""
    newest = Broadcast.objects.of(workspace).newest_first().values_list("uuid", "name", "status", "paused_reason")
    paused = [row for row in newest[:NEWEST] if row[2] == Broadcast.Status.PAUSED]
    for uuid, name, _status, reason in paused[:MOST_NAMED]:
        text = _("The broadcast %(name)s is paused: %(reason)s") if reason else _("The broadcast %(name)s is paused.")
        yield Alert(
            text=text % {"name": name, "reason": reason and _(reason)},
            url=reverse("console:broadcast", args=[uuid]),
            action=_("Broadcast"),
        )


HUB_PANELS: Final = (HubPanel(name="broadcasts", label=gettext_lazy("Broadcasts"), order=30, content=broadcasts),)
CONCERNS: Final = (WorkspaceConcernSource(name="broadcasts", order=40, concerns=paused_broadcasts),)


SHOWN_FOR: Final = timedelta(days=7)


def recent_broadcasts(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the broadcasts that began within a week, newest first, by the index on `started_at`."""
    begun = Broadcast.objects.of_agency(agency).filter(started_at__gte=timezone.now() - SHOWN_FOR)
    rows = list(begun.select_related("workspace").order_by("-started_at")[:most])
    counts = counts_of(rows)
    for broadcast in rows:
        failed = counts[broadcast.pk]["failed"]
        has_broken_off = broadcast.paused_reason == BROKE_OFF
        parts = [str(broadcast.workspace), str(broadcast.get_status_display()), f"{failed:,} sends failed"]
        if has_broken_off:
            parts.append("its preparation broke off")
        yield SupportRow(
            title=broadcast.name,
            detail=" · ".join(parts),
            url=reverse("admin:broadcasts_broadcast_change", args=[broadcast.pk]),
            is_problem=failed > 0 or has_broken_off,
        )


SUPPORT_PANELS: Final = (
    SupportPanel(
        name="broadcasts",
        label="Broadcasts of the last 7 days",
        order=18,
        permission="broadcasts.view_broadcast",
        rows=recent_broadcasts,
    ),
)


STATUS: Final = Filter(name="status", label=gettext_lazy("Status"), is_choice=True, choices=[*STATUS_LABELS.items()])
# An index gives the newest first. Sorting by name or status sorts only one workspace's rows.
OF_WORKSPACE: Final = Table(
    caption=gettext_lazy("Broadcasts"),
    columns=(
        Column(name="name", label=gettext_lazy("Name"), order=("name", "id")),
        Column(name="status", label=gettext_lazy("Status"), order=("status", "-created_at", "-id")),
        Column(name="progress", label=gettext_lazy("Progress")),
        Column(name="when", label=gettext_lazy("When"), order=("created_at", "id"), descends_first=True),
    ),
    filters=(Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name")), STATUS),
    sort="-when",
)
OF_AGENCY: Final = Table(
    caption=gettext_lazy("Broadcasts, the newest first"),
    columns=(
        Column(name="name", label=gettext_lazy("Name")),
        Column(name="workspace", label=gettext_lazy("Sub-account")),
        Column(name="status", label=gettext_lazy("Status")),
        Column(name="progress", label=gettext_lazy("Progress")),
        Column(name="when", label=gettext_lazy("When")),
    ),
    filters=(STATUS,),
)
RECIPIENT_COLUMNS: Final = (
    Column(name="contact", label=gettext_lazy("Contact")),
    Column(name="status", label=gettext_lazy("Status")),
    Column(name="why", label=gettext_lazy("Why")),
    Column(name="sent", label=gettext_lazy("Sent")),
    Column(name="link", label=gettext_lazy("Link")),
)
OF_BROADCAST: Final = Table(
    caption=gettext_lazy("Recipients"),
    columns=RECIPIENT_COLUMNS,
    filters=(
        Filter(name="status", label=gettext_lazy("Status"), is_choice=True, choices=[*RECIPIENT_STATUS_LABELS.items()]),
    ),
)


def with_bar_segments(state: TableState, broadcasts: Iterable[Broadcast]) -> dict[str, object]:
    """Look up the progress of a page's broadcasts. Returns the context that the table's cells need."""
    listed = with_progress(broadcasts)
    for one in listed:
        one.progress = progress_with_skipped(one)
    state.rows = [(one, bar_segments(one.progress.counts)) for one in listed]
    return {"statuses": STATUS_LABELS, "colours": COLOURS}
