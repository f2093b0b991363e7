"""The activity log as a file."""

from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agency.console.activity_filters import FILTERS, entries_of
from agency.models import ActivityEntry
from agency.services.exports.files import MOST_ROWS
from agency.services.exports.sources import ExportSource, Rows
from agency.services.jobs.selections import Selection
from config.api.requests.parameters import Parameters

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
)


def _entries(selection: Selection) -> "QuerySet[ActivityEntry]":
    asked = Parameters(selection.query)
    values = {one.name: asked.plain(one.name) for one in FILTERS}
    return entries_of(selection.agency, values).filter(at__lte=selection.until)


def _count(selection: Selection) -> int:
    return _entries(selection).order_by("-id").values("pk")[:MOST_ROWS].count()


def _read(selection: Selection, cursor: Any, size: int) -> Rows:
    entries = _entries(selection)
    entries = entries.filter(pk__lt=cursor) if cursor else entries
    rows = list(entries.order_by("-id").values(*COLUMNS, "pk")[:size])
    return Rows(rows, rows[-1]["pk"] if len(rows) == size else None)


ACTIVITY: Final = ExportSource(
    name="activity", label=_("Activity"), url_name="console:activity", columns=COLUMNS, read=_read, count=_count
)
