"""An export of all sub-accounts' broadcasts as a file, with their counts."""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from agency.services.exports.sources import ExportSource, Rows
from agency.services.jobs.selections import Selection
from broadcasts.models import Broadcast, Recipient
from broadcasts.pages.words import STATUSES
from broadcasts.services.listing import joined, with_progress
from config.api.requests.parameters import Parameters

COUNTS: Final = tuple(Recipient.Status.values)
COLUMNS: Final = (
    "uuid",
    "name",
    "sub_account_uuid",
    "sub_account",
    "channel",
    "status",
    "scheduled_at",
    "started_at",
    "completed_at",
    "created_at",
    "recipients",
    *COUNTS,
    "clicks",
)


def _rows(selection: Selection) -> Any:
    status = Parameters(selection.query).plain("status")
    own = Broadcast.objects.of_agency(selection.agency).filter(created_at__lte=selection.until)
    return own.filter(status=status) if status in STATUSES else own


def _read(selection: Selection, cursor: Any, size: int) -> Rows:
    rows = _rows(selection)
    rows = rows.filter(pk__lt=cursor) if cursor else rows
    found = with_progress(joined(rows).order_by("-pk")[:size])
    return Rows([_row(one) for one in found], found[-1].pk if len(found) == size else None)


def _row(broadcast: Broadcast) -> dict[str, Any]:
    counts = broadcast.progress.counts
    return {
        "uuid": broadcast.uuid,
        "name": broadcast.name,
        "sub_account_uuid": broadcast.workspace.uuid,
        "sub_account": broadcast.workspace.name,
        "channel": broadcast.channel.name,
        "status": broadcast.status,
        "scheduled_at": broadcast.scheduled_at,
        "started_at": broadcast.started_at,
        "completed_at": broadcast.completed_at,
        "created_at": broadcast.created_at,
        "recipients": broadcast.recipients_count,
        **{status: counts[status] for status in COUNTS},
        "clicks": broadcast.progress.clicks_count,
    }


BROADCASTS: Final = ExportSource(
    name="broadcasts",
    label=_("Broadcasts"),
    url_name="console:broadcasts",
    columns=COLUMNS,
    read=_read,
    count=lambda selection: _rows(selection).count(),
)
