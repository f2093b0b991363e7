"""The console's read-only pages about all sub-accounts' broadcasts, and their export with counts."""

from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, breadcrumb
from agency.pages.pagination import keyset_page, with_id
from agency.pages.tables import ListPage
from agency.services.bulk import Selection
from agency.services.exports import ExportSource, RowBatch
from broadcasts.models import Broadcast, Recipient
from broadcasts.models.broadcasts import BroadcastQuerySet
from broadcasts.pages.labels import STATUS_LABELS
from broadcasts.pages.message_preview import broadcast_context
from broadcasts.pages.panels import OF_AGENCY, with_bar_segments
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import joined, with_progress
from config.api.requests import QueryParameters

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


def _rows(selection: Selection) -> BroadcastQuerySet:
    status = QueryParameters(selection.query).plain("status")
    own = Broadcast.objects.of_agency(selection.agency).filter(created_at__lte=selection.until)
    return own.filter(status=status) if status in STATUS_LABELS else own


def _read(selection: Selection, cursor: int | None, size: int) -> RowBatch:
    rows = _rows(selection)
    rows = rows.filter(pk__lt=cursor) if cursor else rows
    found = with_progress(joined(rows).order_by("-pk")[:size])
    return RowBatch([_row(one) for one in found], found[-1].pk if len(found) == size else None)


def _row(broadcast: Broadcast) -> dict[str, object]:
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
    label=gettext_lazy("Broadcasts"),
    url_name="console:broadcasts",
    columns=COLUMNS,
    read=_read,
    count=lambda selection: _rows(selection).count(),
)


# Both pages are read-only.

LIST = "console:broadcasts"


class Broadcasts(ListPage, ConsoleView):
    """The broadcasts of all sub-accounts, newest first."""

    nav = LIST
    table = OF_AGENCY

    def get(self, request: HttpRequest) -> HttpResponse:
        state, own = self.read_table(), Broadcast.objects.of_agency(self.agency)
        status = state.values["status"]
        page = keyset_page(request, joined(own.filter(status=status) if status in STATUS_LABELS else own))
        state.show_keyset(page)
        return self.list_page("broadcasts/console/broadcasts.html", state, **with_bar_segments(state, page.rows))


class BroadcastPage(ConsoleView):
    """A broadcast's progress. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        found = with_id(joined(Broadcast.objects.of_agency(self.agency)), uuid)
        if found is None:
            raise BroadcastNotFound
        crumbs = [breadcrumb(_("Broadcasts"), LIST)]
        return self.page("broadcasts/console/broadcast.html", crumbs=crumbs, **broadcast_context(found))


urlpatterns = [
    path("broadcasts", Broadcasts.as_view(), name="broadcasts"),
    path("broadcasts/<id:uuid>", BroadcastPage.as_view(), name="broadcast"),
]
