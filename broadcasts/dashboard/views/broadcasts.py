"""The list of broadcasts, and one of them with how far it has come."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from agency.pages.lists import with_id
from agency.pages.tables import ListPage
from broadcasts.models import Broadcast
from broadcasts.pages.shown import shown_page
from broadcasts.pages.tables import OF_WORKSPACE, with_shares
from broadcasts.pages.words import STATUSES
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import joined
from workspaces.subaccounts.dashboard.surface import DashboardView

LIST = "app:broadcasts"
ONE = "app:broadcast"


class Broadcasts(ListPage, DashboardView):
    """All broadcasts, the newest first; found by a part of their name or by their status."""

    nav = LIST
    table = OF_WORKSPACE

    def get(self, request: HttpRequest) -> HttpResponse:
        state, rows = self.read_table(), joined(Broadcast.objects.of(self.workspace))
        search, status = state.values["search"].replace("\0", ""), state.values["status"]
        found = rows.filter(name__icontains=search) if search else rows
        found = found.filter(status=status) if status in STATUSES else found
        state.fetch(found)
        return self.list_page("broadcasts/broadcasts.html", state, **with_shares(state, state.rows))


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
