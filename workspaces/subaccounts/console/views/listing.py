"""The list of sub-accounts, with its search and filters in the address."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from agency.console.lists import read_pages
from agency.console.surface import ConsoleView
from agency.models import Agency, Plan
from config.api.ids import parse_uuid
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services.listing import Selection

NAV = "console:sub-accounts"
MOST_PLANS = 200


@dataclass(slots=True)
class Filters:
    """What the list was asked for, as it was written in the address."""

    search: str
    status: str
    plan: str
    business_type: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        names = ("search", "status", "plan", "business_type")
        return cls(**{name: request.GET.get(name, "").strip() for name in names})

    @property
    def any(self) -> bool:
        return any((self.search, self.status, self.plan, self.business_type))

    def selection(self, agency: Agency) -> Selection:
        """Give the selection; a value that no sub-account can have selects nothing."""
        plan = parse_uuid(self.plan)
        possible = (
            "\0" not in self.search
            and self.status in {"", *Workspace.Status.values}
            and self.business_type in {"", *BusinessType.values}
            and bool(plan or not self.plan)
        )
        if not possible:
            return Selection(agency=agency, nothing=True)
        return Selection(
            agency=agency,
            search=self.search or None,
            status=self.status or None,
            plan=plan,
            business_type=self.business_type or None,
        )


class SubAccounts(ConsoleView):
    """The count of all is the agency's own; only a filter counts rows."""

    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        filters = Filters.of(request)
        selection = filters.selection(self.agency)
        total = selection.count()
        pages = read_pages(request, total)
        cards = selection.cards(offset=pages.offset, limit=pages.size, total=total)
        return self.page("console/sub_accounts.html", cards=cards, pages=pages, filters=filters, **self._choices())

    def _choices(self) -> dict[str, Any]:
        return {
            "plans": Plan.objects.filter(agency=self.agency).order_by("name_key", "id")[:MOST_PLANS],
            "statuses": Workspace.Status.choices,
            "business_types": BusinessType.choices,
            "business_words": dict(BusinessType.choices),
        }
