"""The list of broadcasts, and the page that shows a broadcast's progress."""

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
    """All broadcasts, newest first. Users search by a part of the name and filter by status."""

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
    """A page about one of the workspace's broadcasts. Malformed, unknown and foreign ids get the same answer."""

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
    """A broadcast's progress. The browser reloads it while the broadcast moves."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.page("broadcasts/broadcast.html", **shown_page(self.broadcast))
