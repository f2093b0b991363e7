"""The broadcasts of all sub-accounts, and one of them; nothing of them is changed here."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from agency.console.views.base import ConsoleView, crumb
from agency.pages.lists import keyset_page, with_id
from broadcasts.models import Broadcast
from broadcasts.pages.charts import shares_of
from broadcasts.pages.shown import shown_page
from broadcasts.pages.words import COLOURS, STATUSES
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import joined, with_progress

LIST = "console:broadcasts"


class Broadcasts(ConsoleView):
    """All of them, the newest first."""

    nav = LIST

    def get(self, request: HttpRequest) -> HttpResponse:
        status = request.GET.get("status", "")
        status = status if status in STATUSES else ""
        own = Broadcast.objects.of_agency(self.agency)
        page = keyset_page(request, joined(own.filter(status=status) if status else own))
        return self.page(
            "broadcasts/console/broadcasts.html",
            rows=[(one, shares_of(one.progress.counts)) for one in with_progress(page.rows)],
            page=page,
            chosen_status=status,
            statuses=STATUSES,
            colours=COLOURS,
            is_filtered=bool(status) or page.newer is not None,
        )


class BroadcastPage(ConsoleView):
    """How far one has come; malformed, unknown and foreign ids read alike."""

    nav = LIST

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        found = with_id(joined(Broadcast.objects.of_agency(self.agency)), uuid)
        if found is None:
            raise BroadcastNotFound
        crumbs = [crumb("Broadcasts", LIST)]
        return self.page("broadcasts/console/broadcast.html", crumbs=crumbs, **shown_page(found))
