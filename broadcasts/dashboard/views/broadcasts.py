"""The list of broadcasts, and one of them with how far it has come."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from agency.pages.lists import read_pages, with_id
from broadcasts.models import Broadcast
from broadcasts.pages.charts import shares_of
from broadcasts.pages.shown import shown_page
from broadcasts.pages.words import COLOURS, STATUSES
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import joined, with_progress
from workspaces.subaccounts.dashboard.surface import DashboardView

LIST = "app:broadcasts"
ONE = "app:broadcast"


class Broadcasts(DashboardView):
    """All broadcasts, the newest first."""

    nav = LIST

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("broadcasts/broadcasts.html", **listed(request, Broadcast.objects.of(self.workspace)))


def listed(request: HttpRequest, rows: Any) -> dict[str, Any]:
    """Give what a list of broadcasts shows: those of a status, each with its progress."""
    status = request.GET.get("status", "")
    status = status if status in STATUSES else ""
    found = rows.filter(status=status) if status else rows
    pages = read_pages(request, found.count())
    shown = joined(found).newest_first()[pages.offset : pages.offset + pages.size]
    entries = [(one, shares_of(one.progress.counts)) for one in with_progress(shown)]
    return {
        "rows": entries,
        "pages": pages,
        "chosen_status": status,
        "statuses": STATUSES,
        "colours": COLOURS,
        "is_filtered": bool(status),
    }


class OneBroadcast(DashboardView):
    """A page about one broadcast of the workspace; malformed, unknown and foreign ids read alike."""

    nav = LIST
    form_page = ONE
    broadcast: Broadcast

    def find(self, **ids: Any) -> None:
        found = with_id(joined(Broadcast.objects.of(self.workspace)), ids["uuid"])
        if found is None:
            raise BroadcastNotFound
        found.workspace = self.workspace
        self.broadcast = found


class BroadcastPage(OneBroadcast):
    """How far a broadcast has come; a browser asks again while it moves."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.page("broadcasts/broadcast.html", **shown_page(self.broadcast))
