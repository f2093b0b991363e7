"""The activity log of a workspace for its own people, with the agency's visits."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from agency.pages.activity import labelled
from agency.pages.pagination import keyset_page
from agency.pages.tables import Column, ListPage, Table
from agency.services.activity import actions_recorded_in
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.pages.activity import FILTERS, Names, entries_of


class Activity(ListPage, DashboardView):
    """Shows no network addresses. Of a change from the agency's console it shows the action and the agency's name."""

    nav = "app:activity"
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
        state = self.read_table({"action": labelled(actions_recorded_in(self.workspace.uuid))})
        state.show_keyset(keyset_page(request, entries_of(self.workspace, state.values)))
        names = Names(self.workspace)
        state.rows = [(one, names.of_actor(one), names.of_target(one)) for one in state.rows]
        return self.list_page("subaccounts/dashboard/activity.html", state)
