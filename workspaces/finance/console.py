"""The console's page about what the sub-accounts that share their totals are owed and paid."""

from datetime import timedelta
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView
from agency.pages.tables import Column, Filter, ListPage, Table
from config.api.requests import is_storable
from config.db import database_now, like_pattern, name_key
from workspaces.finance.services.reports import shared_totals
from workspaces.subaccounts.models import Workspace

LIST: Final = "console:finance"
PAID_IN: Final = timedelta(days=30)
LONGEST_SEARCH: Final = 120


class FinanceTotals(ListPage, ConsoleView):
    """The sub-accounts that allow it, by name, with what they are owed and what they were paid in 30 days."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Totals of the sub-accounts"),
        columns=(
            Column(name="name", label=gettext_lazy("Sub-account"), order=("name_key", "id")),
            Column(name="owed", label=gettext_lazy("Owed"), is_number=True),
            Column(name="overdue", label=gettext_lazy("Overdue"), is_number=True),
            Column(name="paid", label=gettext_lazy("Paid in 30 days"), is_number=True),
        ),
        filters=(Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name")),),
        sort="name",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, now = self.read_table(), database_now()
        rows = Workspace.objects.filter(agency=self.agency, finance_settings__shares_totals=True)
        search = state.values["search"][:LONGEST_SEARCH]
        if search:
            matching = rows.filter(name_key__like=like_pattern(name_key(search)))
            rows = matching if is_storable(search) else rows.none()
        state.fetch(rows)
        totals = shared_totals(state.rows, paid_since=now - PAID_IN, now=now)
        state.rows = [(workspace, totals[workspace.pk]) for workspace in state.rows]
        return self.list_page("finance/console/totals.html", state)


urlpatterns = [path("finance", FinanceTotals.as_view(), name="finance")]
