"""The tables of exports and bulk changes: newest first, filtered by kind and state."""

from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agency.models import Export
from agency.models.jobs import Job
from agency.pages.tables import Column, Filter, Table, TableState

STATE: Final = Filter(name="state", label=_("State"), is_choice=True, choices=Job.State.choices)
EXPORTS: Final = Table(
    caption=_("Exports, the newest first"),
    columns=(
        Column(name="list", label=_("List")),
        Column(name="state", label=_("State")),
        Column(name="rows", label=_("Rows"), is_number=True),
        Column(name="by", label=_("By")),
        Column(name="begun", label=_("Begun")),
    ),
    filters=(
        Filter(name="kind", label=_("List"), is_choice=True),
        STATE,
        Filter(name="format", label=_("Format"), is_choice=True, choices=Export.Format.choices),
    ),
)
BULK_OPERATIONS: Final = Table(
    caption=_("Bulk changes, the newest first"),
    columns=(
        Column(name="what", label=_("What")),
        Column(name="state", label=_("State")),
        Column(name="done", label=_("Done"), is_number=True),
        Column(name="by", label=_("By")),
        Column(name="begun", label=_("Begun")),
    ),
    filters=(Filter(name="kind", label=_("What"), is_choice=True), STATE),
)


def narrowed(rows: "QuerySet[Any]", state: TableState) -> "QuerySet[Any]":
    """Return the rows that match all filters; a value that a filter does not offer is ignored."""
    asked = {one.filter.name: one.value for one in state.filters if one.value in dict(one.choices)}
    return rows.filter(**asked)
