"""The activity log as an export."""

from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.activity_filters import FILTERS, entries_of
from agency.models import ActivityEntry
from agency.pages.activity.changes import changes_under
from agency.services.exports.files import MOST_ROWS
from agency.services.exports.sources import ExportSource, Rows
from agency.services.jobs.selections import Selection
from config.api.requests import QueryParameters

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
    return entries_of(selection.agency, values).filter(at__lte=selection.until)


def _count(selection: Selection) -> int:
    return _entries(selection).order_by("-id").values("pk")[:MOST_ROWS].count()


def _read(selection: Selection, cursor: Any, size: int) -> Rows:
    entries = _entries(selection)
    entries = entries.filter(pk__lt=cursor) if cursor else entries
    rows = list(entries.order_by("-id").values(*READ)[:size])
    for row in rows:
        _write_changes(row)
    return Rows(rows, rows[-1]["pk"] if len(rows) == size else None)


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
