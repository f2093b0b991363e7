"""A sub-account's broadcasts on its console page: the newest with their progress, and the paused."""

from collections.abc import Iterator
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.registry import Concern
from broadcasts.models import Broadcast
from broadcasts.services.counts import counts_of
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import WorkspaceConcernSource
from workspaces.subaccounts.pages.hub import HubContent, HubPanel, HubRow, opened_as_customer

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
        empty=_("No broadcasts. Your customer writes them in the dashboard once a channel is connected."),
        actions=opened_as_customer(workspace, "app:broadcasts", label=_("Open Broadcasts as customer")),
    )


def paused_broadcasts(workspace: Workspace) -> Iterator[Concern]:
    """Yield a concern for each paused broadcast among the newest, whether a fault or a person paused it."""
    newest = Broadcast.objects.of(workspace).newest_first().values_list("uuid", "name", "status", "paused_reason")
    paused = [row for row in newest[:NEWEST] if row[2] == Broadcast.Status.PAUSED]
    for uuid, name, _status, reason in paused[:MOST_NAMED]:
        text = _("The broadcast %(name)s is paused: %(reason)s") if reason else _("The broadcast %(name)s is paused.")
        yield Concern(
            text=text % {"name": name, "reason": reason and _(reason)},
            url=reverse("console:broadcast", args=[uuid]),
            action=_("Broadcast"),
        )


PANELS: Final = (HubPanel(name="broadcasts", label=gettext_lazy("Broadcasts"), order=30, content=broadcasts),)
CONCERNS: Final = (WorkspaceConcernSource(name="broadcasts", order=40, concerns=paused_broadcasts),)
