"""The tables of broadcasts and of recipients."""

from collections.abc import Iterable
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from agency.pages.tables import Column, Filter, Table, TableState
from broadcasts.models import Broadcast
from broadcasts.pages.charts import shares_of
from broadcasts.pages.shown import as_ended
from broadcasts.pages.words import COLOURS, RECIPIENTS, STATUSES
from broadcasts.services.listing import with_progress

STATUS: Final = Filter(name="status", label=_("Status"), is_choice=True, choices=[*STATUSES.items()])
# An index gives the newest first. Sorting by name or status sorts only one workspace's rows.
OF_WORKSPACE: Final = Table(
    caption=_("Broadcasts"),
    columns=(
        Column(name="name", label=_("Name"), order=("name", "id")),
        Column(name="status", label=_("Status"), order=("status", "-created_at", "-id")),
        Column(name="progress", label=_("Progress")),
        Column(name="when", label=_("When"), order=("created_at", "id"), descends_first=True),
    ),
    filters=(Filter(name="search", label=_("Search"), placeholder=_("Name")), STATUS),
    sort="-when",
)
OF_AGENCY: Final = Table(
    caption=_("Broadcasts, the newest first"),
    columns=(
        Column(name="name", label=_("Name")),
        Column(name="workspace", label=_("Sub-account")),
        Column(name="status", label=_("Status")),
        Column(name="progress", label=_("Progress")),
        Column(name="when", label=_("When")),
    ),
    filters=(STATUS,),
)
RECIPIENT_COLUMNS: Final = (
    Column(name="contact", label=_("Contact")),
    Column(name="status", label=_("Status")),
    Column(name="why", label=_("Why")),
    Column(name="sent", label=_("Sent")),
    Column(name="link", label=_("Link")),
)
OF_BROADCAST: Final = Table(
    caption=_("Recipients"),
    columns=RECIPIENT_COLUMNS,
    filters=(Filter(name="status", label=_("Status"), is_choice=True, choices=[*RECIPIENTS.items()]),),
)


def with_shares(state: TableState, broadcasts: Iterable[Broadcast]) -> dict[str, Any]:
    """Look up the progress of a page's broadcasts. Returns the context that the table's cells need."""
    listed = with_progress(broadcasts)
    for one in listed:
        one.progress = as_ended(one)
    state.rows = [(one, shares_of(one.progress.counts)) for one in listed]
    return {"statuses": STATUSES, "colours": COLOURS}
