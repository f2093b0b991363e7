"""The list of sub-accounts, with its search and filters in the address."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from agency.console.views.base import ConsoleView
from agency.models import Plan
from agency.pages.lists import read_pages
from config.api.requests.parameters import NothingMatches, Parameters
from config.errors import Invalid
from workspaces.subaccounts.filters import SubAccountFilterSet
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services.listing import count_of, rows_of

NAV = "console:sub-accounts"
COLUMNS = ("uuid", "name", "status", "owner_name", "owner_email", "business_type", "created_at", "plan__name")
MOST_PLANS = 200


@dataclass(slots=True)
class Filters:
    """What the list was asked for, as it was written in the address; the API's other filters count there, too."""

    query: str
    search: str
    status: str
    plan: str
    business_type: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        names = ("search", "status", "plan", "business_type")
        return cls(request.META.get("QUERY_STRING", ""), **{name: request.GET.get(name, "").strip() for name in names})

    @property
    def any(self) -> bool:
        return SubAccountFilterSet.is_sent(Parameters(self.query))

    def apply(self, rows: "QuerySet[Any]") -> "QuerySet[Any]":
        """Keep what is asked for; a value that no sub-account can have keeps nothing."""
        try:
            return SubAccountFilterSet.apply(Parameters(self.query), rows)
        except (NothingMatches, Invalid):
            return rows.none()


class SubAccounts(ConsoleView):
    """The count of all is the agency's own; only a filter counts rows."""

    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        filters = Filters.of(request)
        found = filters.apply(Workspace.objects.of(self.agency)) if filters.any else None
        total = count_of(self.agency, found)
        pages = read_pages(request, total)
        rows = rows_of(
            self.agency,
            found,
            columns=COLUMNS,
            offset=pages.offset,
            limit=pages.size,
            total=total,
            is_search=bool(filters.search),
        )
        return self.page("subaccounts/sub_accounts.html", rows=rows, pages=pages, filters=filters, **self._choices())

    def _choices(self) -> dict[str, Any]:
        return {
            "plans": Plan.objects.filter(agency=self.agency).order_by("name_key", "id")[:MOST_PLANS],
            "statuses": Workspace.Status.choices,
            "business_types": BusinessType.choices,
            "business_types_by_value": dict(BusinessType.choices),
        }
