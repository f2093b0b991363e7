"""The list of sub-accounts. Its search, filters and order stand in the query string."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from agency.console.base import ConsoleView
from agency.models import Plan
from agency.pages.pagination import count_capped, read_pages
from agency.pages.tables import Choices, Column, Filter, ListPage, Table
from agency.services.bulk import actions_on
from config.api.requests import QueryParameters
from workspaces.subaccounts.console.chosen import filtered
from workspaces.subaccounts.filters import SubAccountFilterSet
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services.listing import count_of, rows_of

NAV = "console:sub-accounts"
COLUMNS = ("uuid", "name", "status", "owner_name", "owner_email", "business_type", "created_at", "plan__name")
MOST_PLANS = 200
# Each column's order is that of an index.
TABLE = Table(
    caption=_("Sub-accounts"),
    columns=(
        Column(name="name", label=_("Name"), order=("name_key", "id")),
        Column(name="status", label=_("Status"), order=("status", "-created_at", "-id")),
        Column(name="plan", label=_("Plan")),
        Column(name="business_type", label=_("Business type"), order=("business_type", "-created_at", "-id")),
        Column(name="created", label=_("Created"), order=("created_at", "id"), descends_first=True),
        Column(name="actions", label=_("Actions"), is_unseen=True),
    ),
    filters=(
        Filter(name="search", label=_("Search"), placeholder=_("Name, owner, e-mail or ID")),
        Filter(name="status", label=_("Status"), is_choice=True, choices=Workspace.Status.choices),
        Filter(name="plan", label=_("Plan"), is_choice=True),
        Filter(name="business_type", label=_("Business type"), is_choice=True, choices=BusinessType.choices),
    ),
    sort="-created",
)


@dataclass(slots=True)
class Filters:
    """The filters in the list's query string. The API's filters work there too, even those without a form field."""

    query: str

    @property
    def any(self) -> bool:
        return SubAccountFilterSet.is_sent(QueryParameters(self.query))

    def apply(self, rows: "QuerySet[Any]") -> "QuerySet[Any]":
        """Apply the filters. A value that no sub-account can have matches no row."""
        return filtered(self.query, rows)


class SubAccounts(ListPage, ConsoleView):
    """Without a filter, the total is the agency's stored count. Rows are counted only for a filter."""

    nav = NAV
    table = TABLE

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"plan": self._plans()})
        filters = Filters(request.META.get("QUERY_STRING", ""))
        found = filters.apply(Workspace.objects.of(self.agency)) if filters.any else None
        total, is_capped = (count_of(self.agency, None), False) if found is None else count_capped(found)
        pages = read_pages(request, total, is_capped)
        rows = rows_of(
            self.agency,
            found,
            columns=COLUMNS,
            offset=pages.offset,
            limit=pages.size,
            total=total,
            is_capped=is_capped,
            is_search=bool(state.values["search"]),
            order=state.order,
        )
        state.is_filtered = filters.any
        return self.list_page(
            "subaccounts/sub_accounts.html",
            state.show(rows, pages),
            business_types=dict(BusinessType.choices),
            bulk_actions=actions_on("sub-accounts") if self.may_write else [],
        )

    def _plans(self) -> Choices:
        plans = Plan.objects.filter(agency=self.agency).order_by("name_key", "id")[:MOST_PLANS]
        archived = _("%(name)s (archived)")
        return [(str(plan.uuid), archived % {"name": plan.name} if plan.archived_at else plan.name) for plan in plans]
