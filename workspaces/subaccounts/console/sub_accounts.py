"""The console's list of sub-accounts, the page of one, and the pages that create, edit and suspend it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.models import ActivityEntry, Addon, Agency, Plan
from agency.pages.activity import action_label
from agency.pages.forms import ReasonForm
from agency.pages.pagination import count_capped, keyset_page, read_pages, with_id
from agency.pages.registry import Alert, StrOrPromise
from agency.pages.tables import Choices, Column, Filter, ListPage, Table
from agency.services.bulk import actions_on
from config.api.requests import QueryParameters
from workspaces.subaccounts.console.bulk import filter_by_query
from workspaces.subaccounts.console.forms import AddonForm, NewSubAccountForm, SubAccountForm, initial_values
from workspaces.subaccounts.filters import ConsoleSubAccountFilterSet
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.pages.panels import LimitUsage, limit_usages
from workspaces.subaccounts.pages.registry import hub_page
from workspaces.subaccounts.services import (
    WorkspaceNotFound,
    change_workspace,
    create_workspace,
    owner_state,
    restore_workspace,
    suspend_workspace,
)
from workspaces.subaccounts.services.health import ANY, checks_in_order, health_of
from workspaces.subaccounts.services.listing import count_sub_accounts, sub_account_rows

# The list's search, filters and order stand in the query string.

NAV = "console:sub-accounts"
COLUMNS = (
    "uuid",
    "name",
    "external_id",
    "status",
    "owner_name",
    "owner_email",
    "business_type",
    "created_at",
    "plan__name",
)
MOST_PLANS_IN_FILTER = 200
# Each column's order is that of an index.
TABLE = Table(
    caption=gettext_lazy("Sub-accounts"),
    columns=(
        Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),
        Column(name="status", label=gettext_lazy("Status"), order=("status", "-created_at", "-id")),
        Column(name="health", label=gettext_lazy("Health")),
        Column(name="plan", label=gettext_lazy("Plan")),
        Column(
            name="business_type", label=gettext_lazy("Business type"), order=("business_type", "-created_at", "-id")
        ),
        Column(name="created", label=gettext_lazy("Created"), order=("created_at", "id"), descends_first=True),
        Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
    ),
    filters=(
        Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name, owner, e-mail or ID")),
        Filter(name="status", label=gettext_lazy("Status"), is_choice=True, choices=Workspace.Status.choices),
        Filter(name="health", label=gettext_lazy("Health"), is_choice=True),
        Filter(name="plan", label=gettext_lazy("Plan"), is_choice=True),
        Filter(name="business_type", label=gettext_lazy("Business type"), is_choice=True, choices=BusinessType.choices),
    ),
    sort="-created",
)


@dataclass(slots=True)
class Filters:
    """The filters in the list's query string. The API's filters work there too, even those without a form field."""

    query: str

    @property
    def any(self) -> bool:
        return ConsoleSubAccountFilterSet.is_sent(QueryParameters(self.query))

    def apply(self, rows: "QuerySet[Workspace]") -> "QuerySet[Workspace]":
        """Apply the filters. A value that no sub-account can have matches no row."""
        return filter_by_query(self.query, rows)


class SubAccounts(ListPage, ConsoleView):
    """Without a filter, the total is the agency's stored count. Rows are counted only for a filter."""

    nav = NAV
    table = TABLE

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"plan": self._plans(), "health": health_choices()})
        filters = Filters(request.META.get("QUERY_STRING", ""))
        found = filters.apply(Workspace.objects.of(self.agency)) if filters.any else None
        total, is_capped = (count_sub_accounts(self.agency, None), False) if found is None else count_capped(found)
        pages = read_pages(request, total, is_capped)
        rows = sub_account_rows(
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
        wrong = health_of(self.agency, [row["uuid"] for row in rows])
        return self.list_page(
            "subaccounts/sub_accounts.html",
            state.show([{**row, "health": wrong[row["uuid"]]} for row in rows], pages),
            business_types=dict(BusinessType.choices),
            bulk_actions=actions_on("sub-accounts") if self.may_write else [],
        )

    def _plans(self) -> Choices:
        plans = Plan.objects.filter(agency=self.agency).order_by("name_key", "id")[:MOST_PLANS_IN_FILTER]
        archived = gettext_lazy("%(name)s (archived)")
        return [(str(plan.uuid), archived % {"name": plan.name} if plan.archived_at else plan.name) for plan in plans]


def health_choices() -> Choices:
    return [(ANY, _("Needs attention")), *((check.name, check.label) for check in checks_in_order())]


TITLE = gettext_lazy("Sub-accounts")
PAGE = "console:sub-account"
LATEST = 6
MOST_NAMED = 3
MOST_PLANS_SHOWN = 100


def plans_of(agency: Agency) -> "QuerySet[Plan]":
    """Give the plans that can be assigned."""
    return Plan.objects.filter(agency=agency, archived_at=None).order_by("name_key", "id")


def _limit_concerns(workspace: Workspace, used: Iterable[LimitUsage]) -> Iterator[Alert]:
    """Name limits that are used up, except those so small that they are meant to be used up."""
    full = [limit for limit in used if limit.is_reached and not limit.is_meant_to_be_full]
    for limit in full[:MOST_NAMED]:
        yield Alert(
            text=_("%(used)s of %(allowed)s %(label)s are used.")
            % {"used": limit.used, "allowed": limit.allowed, "label": limit.label},
            url=reverse("console:sub-account-plan", args=[workspace.uuid]),
            action=_("Plan"),
        )


class SubAccountDetailView(ConsoleView):
    """A page about one sub-account of the agency. Malformed, unknown and foreign ids get the same answer."""

    nav = NAV
    workspace: Workspace

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Workspace.objects.of(self.agency).select_related("plan", "owner"), ids["uuid"])
        if found is None:
            raise WorkspaceNotFound
        self.workspace = found

    def activity(self) -> "QuerySet[ActivityEntry]":
        return ActivityEntry.objects.filter(agency=self.agency, workspace_uuid=self.workspace.uuid)

    def crumbs(self) -> list[tuple[StrOrPromise, str]]:
        return [breadcrumb(TITLE, NAV), breadcrumb(self.workspace.name, PAGE, self.workspace.uuid)]

    def back(self, message: str) -> HttpResponse:
        return self.done(message % {"name": self.workspace.name}, PAGE, self.workspace.uuid)


class SubAccountPage(SubAccountDetailView):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        limits = limit_usages(self.workspace)
        held_addons = list(self.workspace.held_addons.select_related("addon").order_by("granted_at", "id"))
        hub = hub_page(self.workspace, whole=request.GET.get("panel", ""))
        free = Addon.objects.filter(agency=self.agency, archived_at=None).exclude(held_by__workspace=self.workspace)
        return self.page(
            "subaccounts/sub_account.html",
            workspace=self.workspace,
            limits=[limit for limit in limits if not limit.is_idle],
            idle_limits=[limit for limit in limits if limit.is_idle],
            held_addons=held_addons,
            addon_form=AddonForm(addons=free.order_by("name_key", "id")),
            owner_state=owner_state(self.workspace),
            plans=plans_of(self.agency).only("id", "uuid", "name")[:MOST_PLANS_SHOWN] if self.may_write else [],
            concerns=[*_limit_concerns(self.workspace, limits), *hub.concerns],
            is_unchecked=hub.is_unchecked,
            panels=hub.panels,
            latest=[(entry, action_label(entry.action)) for entry in self.activity().order_by("-id")[:LATEST]],
        )


class SubAccountActivity(SubAccountDetailView):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        entries = keyset_page(request, self.activity())
        return self.page("subaccounts/activity.html", workspace=self.workspace, entries=entries)


class SubAccountNew(FormPage[NewSubAccountForm]):
    nav = NAV
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> NewSubAccountForm:
        plans = plans_of(self.agency)
        return NewSubAccountForm(data, plans=plans, initial={"timezone": timezone.get_current_timezone_name()})

    def save(self, form: NewSubAccountForm) -> HttpResponse:
        workspace = create_workspace(agency=self.agency, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was created.") % {"name": workspace.name}, PAGE, workspace.uuid)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("New sub-account"), "submit": _("Create sub-account")}


class SubAccountEdit(SubAccountDetailView, FormPage[SubAccountForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> SubAccountForm:
        return SubAccountForm(data, initial=initial_values(self.workspace))

    def save(self, form: SubAccountForm) -> HttpResponse:
        self.workspace = change_workspace(workspace=self.workspace, by=self.by, **form.cleaned_data)
        return self.back(_("%(name)s was saved."))

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Edit %(name)s") % {"name": self.workspace.name},
            "submit": _("Save"),
        }


class SubAccountSuspend(SubAccountDetailView, FormPage[ReasonForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> ReasonForm:
        return ReasonForm(data)

    def save(self, form: ReasonForm) -> HttpResponse:
        reason = form.cleaned_data["reason"]
        suspend_workspace(workspace=self.workspace, reason=reason, now=timezone.now(), by=self.by)
        return self.back(_("%(name)s was suspended."))

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Suspend %(name)s?") % {"name": self.workspace.name},
            "text": _(
                "Your customer's dashboard, booking page and API keys stop working at once. Messages and broadcasts "
                "wait; messages that have waited for an hour are not sent. Nothing is deleted, and you can restore it "
                "at any time."
            ),
            "submit": _("Suspend"),
            "danger": True,
        }


class SubAccountRestore(SubAccountDetailView):
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        restore_workspace(workspace=self.workspace, now=timezone.now(), by=self.by)
        return self.back(_("%(name)s was restored."))
