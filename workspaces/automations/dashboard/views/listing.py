"""The list of a workspace's automations, with the things that each still needs."""

from typing import Final

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from agency.pages.pagination import read_pages
from agency.pages.tables import Choices, Column, Filter, ListPage, Table, TableState
from config.api.requests import NothingMatches, QueryParameters
from workspaces.automations.filters import AutomationListFilterSet
from workspaces.automations.models import Automation
from workspaces.automations.services import Capabilities, capabilities_of, reasons_not_ready
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES

ON, OFF, READY, INCOMPLETE = "on", "off", "ready", "incomplete"
STATES: Final = (
    (ON, _("On")),
    (OFF, _("Off")),
    (READY, _("Off, ready to switch on")),
    (INCOMPLETE, _("Off, with things to do first")),
)
# The filters by readiness check each automation that is off. Of a longer list they check only the first ones.
MOST_JUDGED: Final = 500
MOST_PACKS: Final = 200


class Automations(ListPage, DashboardView):
    """Lists all automations, newest first, each with the number of things that it still needs."""

    nav = "app:automations"
    # An index serves the order by age. The orders by name and by change sort the rows of one workspace.
    table = Table(
        caption=_("Automations"),
        columns=(
            Column(name="name", label=_("Name"), order=("name", "id")),
            Column(name="channel", label=_("Channel"), order=("platform", "-created_at", "-id")),
            Column(name="state", label=_("State")),
            Column(name="changed", label=_("Changed"), order=("updated_at", "id"), descends_first=True),
        ),
        filters=(
            Filter(name="search", label=_("Search"), placeholder=_("Name")),
            Filter(name="state", label=_("State"), is_choice=True, choices=STATES),
            Filter(
                name="channel",
                label=_("Channel"),
                is_choice=True,
                choices=[(kind, capfirst(name)) for kind, name in CHANNEL_NAMES.items()],
            ),
            Filter(name="pack", label=_("Pack"), is_choice=True),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, capabilities = self.read_table({"pack": self._packs()}), capabilities_of(self.workspace)
        rows: QuerySet[Automation] = self.workspace.automations.order_by(*(state.order or ("-created_at", "-id")))
        try:
            rows = AutomationListFilterSet.apply(QueryParameters.of(request), rows)
        except NothingMatches:
            rows = rows.none()
        asked = state.values["state"]
        if asked in (ON, OFF):
            rows = rows.filter(enabled=asked == ON)
        if asked in (READY, INCOMPLETE):
            self._fetch_judged(state, rows.filter(enabled=False), capabilities)
        else:
            state.fetch(rows)
        listed = [(row, CHANNEL_NAMES[row.platform], reasons_not_ready(row, capabilities)) for row in state.rows]
        state.rows = listed
        ready_count = sum(not row.enabled and not missing for row, _, missing in listed)
        return self.list_page("automations/automations.html", state, ready_count=ready_count)

    def _fetch_judged(self, state: TableState, off: "QuerySet[Automation]", capabilities: Capabilities) -> None:
        """Fetch the automations that are ready, or those that are not, by the list's filter."""
        judged = list(off[: MOST_JUDGED + 1])
        is_ready = state.values["state"] == READY
        kept = [one for one in judged[:MOST_JUDGED] if is_ready != bool(reasons_not_ready(one, capabilities))]
        pages = read_pages(self.request, len(kept), len(judged) > MOST_JUDGED)
        state.show(kept[pages.offset : pages.offset + pages.size], pages)

    def _packs(self) -> Choices:
        """Give the packs that the automations came from, by name."""
        named = self.workspace.automations.filter(from_pack__isnull=False).order_by("from_pack_name", "from_pack")
        found = named.values_list("from_pack", "from_pack_name").distinct()[:MOST_PACKS]
        return [*{str(uuid): name for uuid, name in found}.items()]
