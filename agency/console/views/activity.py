"""The agency's activity log."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from agency.console.activity_filters import FILTERS, entries_of
from agency.console.views.base import ConsoleView
from agency.pages.activity import labelled_actions
from agency.pages.lists import keyset_page
from agency.pages.tables import Column, ListPage, Table


class Activity(ListPage, ConsoleView):
    """All changes, newest first, filtered by action, kind of actor, person, object and days."""

    nav = "console:activity"
    table = Table(
        caption=_("Changes, the newest first"),
        columns=(
            Column(name="what", label=_("What")),
            Column(name="of", label=_("Of")),
            Column(name="by", label=_("By")),
            Column(name="when", label=_("When")),
        ),
        filters=FILTERS,
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"action": labelled_actions()})
        entries = entries_of(self.agency, state.values)
        return self.list_page("agency/activity/list.html", state.show_keyset(keyset_page(request, entries)))
