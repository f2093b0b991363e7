"""The agency's activity log: its page, its filters, and the log as an export."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView
from agency.models import ActivityEntry, Agency
from agency.pages.activity import (
    MOST_OFFERED,
    ActorFilter,
    actors,
    changes_under,
    filter_entries,
    filters_by,
    grouped_actions,
)
from agency.pages.pagination import keyset_page
from agency.pages.tables import Column, ListPage, Table
from agency.services.bulk import Selection
from agency.services.exports import MOST_ROWS, ExportSource, RowBatch
from config.api.requests import QueryParameters

# The kinds of `agency.actors.ActorKind`.
ACTOR_FILTERS: Final = tuple(
    ActorFilter(kind, label, Q(actor_kind=kind))
    for kind, label in (
        ("user", gettext_lazy("Console or dashboard")),
        ("agency_key", gettext_lazy("Agency API key")),
        ("workspace_key", gettext_lazy("Sub-account's API key")),
        ("customer", gettext_lazy("Customer's connect page")),
        ("staff", gettext_lazy("Support")),
        ("automation", gettext_lazy("Automation")),
        ("system", gettext_lazy("System")),
    )
)

FILTERS: Final = filters_by(ACTOR_FILTERS)


def entries_of(agency: Agency, asked: Mapping[str, str], *, now: datetime) -> "QuerySet[ActivityEntry]":
    """Return an agency's entries that match all filters; a period ends now."""
    return filter_entries(ActivityEntry.objects.filter(agency=agency), asked, ACTOR_FILTERS, now=now)


class Activity(ListPage, ConsoleView):
    """All changes, newest first, filtered by action, kind of actor, person, object and days."""

    nav = "console:activity"
    table = Table(
        caption=gettext_lazy("Changes, the newest first"),
        columns=(
            Column(name="what", label=gettext_lazy("Action")),
            Column(name="of", label=gettext_lazy("Item")),
            Column(name="by", label=gettext_lazy("By")),
            Column(name="when", label=gettext_lazy("When")),
        ),
        filters=FILTERS,
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        asked = request.GET.get("person", "").strip()
        team = self.agency.members.order_by("-id").values_list("user__email", flat=True)[:MOST_OFFERED]
        by = actors(asked, _("Team"), team, self.agency.keys.all())
        state = self.read_table(groups={"action": grouped_actions(), "person": by})
        entries = entries_of(self.agency, state.values, now=timezone.now())
        return self.list_page("agency/activity/list.html", state.show_keyset(keyset_page(request, entries)))


COLUMNS: Final = (
    "at",
    "action",
    "target_kind",
    "target_id",
    "target_name",
    "actor_kind",
    "actor_label",
    "acting_for",
    "address",
    "details",
    "before",
    "after",
)
READ: Final = (*(name for name in COLUMNS if name not in ("before", "after")), "changes", "pk")


def _entries(selection: Selection) -> "QuerySet[ActivityEntry]":
    asked = QueryParameters(selection.query)
    values = {one.name: asked.plain(one.name) for one in FILTERS}
    return entries_of(selection.agency, values, now=selection.until).filter(at__lte=selection.until)


def _count(selection: Selection) -> int:
    return _entries(selection).order_by("-id").values("pk")[:MOST_ROWS].count()


def _read(selection: Selection, cursor: int | None, size: int) -> RowBatch:
    entries = _entries(selection)
    entries = entries.filter(pk__lt=cursor) if cursor else entries
    rows = list(entries.order_by("-id").values(*READ)[:size])
    for row in rows:
        _write_changes(row)
    return RowBatch(rows, rows[-1]["pk"] if len(rows) == size else None)


def _write_changes(row: dict[str, Any]) -> None:
    """Write each field's values before and after into two columns, with the labels of the page."""
    shown = changes_under(row["action"], row.pop("changes"))
    row["before"] = "; ".join(f"{one.label}: {one.before}" for one in shown if one.has_values)
    row["after"] = "; ".join(f"{one.label}: {one.after if one.has_values else _('changed')}" for one in shown)


ACTIVITY: Final = ExportSource(
    name="activity",
    label=gettext_lazy("Activity"),
    url_name="console:activity",
    columns=COLUMNS,
    read=_read,
    count=_count,
)
