"""The console's list of all sub-accounts' broadcasts, and its page about a single broadcast. Both are read-only."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from agency.console.views.base import ConsoleView, crumb
from agency.pages.lists import keyset_page, with_id
from agency.pages.tables import ListPage
from broadcasts.models import Broadcast
from broadcasts.pages.shown import shown_page
from broadcasts.pages.tables import OF_AGENCY, with_shares
from broadcasts.pages.words import STATUSES
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import joined

LIST = "console:broadcasts"


class Broadcasts(ListPage, ConsoleView):
    """The broadcasts of all sub-accounts, newest first."""

    nav = LIST
    table = OF_AGENCY

    def get(self, request: HttpRequest) -> HttpResponse:
        state, own = self.read_table(), Broadcast.objects.of_agency(self.agency)
        status = state.values["status"]
        page = keyset_page(request, joined(own.filter(status=status) if status in STATUSES else own))
        state.show_keyset(page)
        return self.list_page("broadcasts/console/broadcasts.html", state, **with_shares(state, page.rows))


class BroadcastPage(ConsoleView):
    """A broadcast's progress. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        found = with_id(joined(Broadcast.objects.of_agency(self.agency)), uuid)
        if found is None:
            raise BroadcastNotFound
        crumbs = [crumb(_("Broadcasts"), LIST)]
        return self.page("broadcasts/console/broadcast.html", crumbs=crumbs, **shown_page(found))
