"""Pages of plans and add-ons, the same for both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency import limits
from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.console.forms import CatalogueForm, catalogue_values, limit_values
from agency.models import Addon, Agency, Plan
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, ListPage, Table, TableState
from agency.services import (
    AddonNotFound,
    PlanNotFound,
    archive_item,
    choose_default_plan,
    create_addon,
    create_plan,
    update_item,
)
from config.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The plans or the add-ons: their model, and the texts and URL names of their pages."""

    model: type[Plan] | type[Addon]
    missing: type[NotFound]
    create: Callable[..., Plan | Addon]
    name: str
    title: StrOrPromise
    new_label: StrOrPromise
    archive_label: StrOrPromise
    description: StrOrPromise
    empty_text: StrOrPromise
    editing_note: StrOrPromise
    limit_help: StrOrPromise
    starting: limits.Limits

    @property
    def has_default(self) -> bool:
        """Whether an item can be the default, which applies where no item is named."""
        return self.model is Plan

    @property
    def list_url(self) -> str:
        return f"console:{self.name}s"

    @property
    def item_url(self) -> str:
        return f"console:{self.name}"

    @property
    def new_url(self) -> str:
        return f"console:{self.name}-new"

    @property
    def edit_url(self) -> str:
        return f"console:{self.name}-edit"

    @property
    def archive_url(self) -> str:
        return f"console:{self.name}-archive"

    def find(self, agency: Agency, uuid: UUID | None, *, live: bool = False) -> Plan | Addon:
        """Return an item of the agency, with `live` only one that may be changed. Raises `missing`."""
        items: Any = self.model._default_manager.filter(agency=agency)
        found: Plan | Addon | None = with_id(items.filter(archived_at=None) if live else items, uuid)
        if found is None:
            raise self.missing
        return found


PLANS = Catalogue(
    model=Plan,
    missing=PlanNotFound,
    create=create_plan,
    name="plan",
    title=gettext_lazy("Plans"),
    new_label=gettext_lazy("New plan"),
    archive_label=gettext_lazy("Archive plan"),
    description=gettext_lazy("A plan sets what a sub-account may use. Each sub-account has one plan or none."),
    empty_text=gettext_lazy("Create the first plan, then assign it to sub-accounts."),
    editing_note=gettext_lazy(
        "Sub-accounts keep a copy of the limits. After an edit, theirs change only when you assign this plan again."
    ),
    limit_help=gettext_lazy("Leave a field empty for no limit."),
    starting=limits.unlimited(),
)
ADDONS = Catalogue(
    model=Addon,
    missing=AddonNotFound,
    create=create_addon,
    name="addon",
    title=gettext_lazy("Add-ons"),
    new_label=gettext_lazy("New add-on"),
    archive_label=gettext_lazy("Archive add-on"),
    description=gettext_lazy("An add-on adds to the limits of a sub-account's plan. A sub-account may hold several."),
    empty_text=gettext_lazy("Create the first add-on, then grant it to sub-accounts that need more than their plan."),
    editing_note=gettext_lazy(
        "Sub-accounts keep a copy of the limits. After an edit, theirs change only when you grant this add-on again."
    ),
    limit_help=gettext_lazy("How much this adds to the plan's limit. 0 adds nothing; an empty field lifts the limit."),
    starting=limits.nothing(),
)


def limit_rows(held: limits.Limits) -> list[tuple[StrOrPromise, int | None]]:
    """Return each limit's label and number; None means no limit."""
    return [(label, limits.value(held, name)) for name, label in limits.LABELS.items()]


NAME = Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id"))
LIMITS = (
    Column(name="contacts", label=gettext_lazy("Contacts"), is_number=True),
    Column(name="team_members", label=gettext_lazy("Team members"), is_number=True),
    Column(name="broadcasts_per_month", label=gettext_lazy("Broadcasts per month"), is_number=True),
)
CREATED = Column(name="when", label=gettext_lazy("Created"), order=("created_at", "id"), descends_first=True)
ARCHIVED = Column(name="when", label=gettext_lazy("Archived"), order=("archived_at", "id"), descends_first=True)


class CatalogueList(ListPage, ConsoleView):
    """The items that can be chosen, or the archived items."""

    catalogue: ClassVar[Catalogue] = PLANS

    def get(self, request: HttpRequest) -> HttpResponse:
        archived = request.GET.get("show") == "archived"
        columns = (NAME, *LIMITS, ARCHIVED if archived else CREATED)
        table = Table(caption=self.catalogue.title, columns=columns, sort="name", keeps=("show",))
        items: Any = self.catalogue.model._default_manager.filter(agency=self.agency, archived_at__isnull=not archived)
        state = TableState(table, request).fetch(items)
        return self.list_page("agency/catalogue/list.html", state, catalogue=self.catalogue, archived=archived)


class CatalogueItemPage(ConsoleView):
    catalogue: ClassVar[Catalogue] = PLANS

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        item = self.catalogue.find(self.agency, uuid)
        return self.page(
            "agency/catalogue/item.html", catalogue=self.catalogue, item=item, limits=limit_rows(item.limits)
        )


class CatalogueNew(FormPage[CatalogueForm]):
    creates = True
    catalogue: ClassVar[Catalogue] = PLANS
    template_name = "agency/catalogue/form.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> CatalogueForm:
        return CatalogueForm(data, initial=limit_values(self.catalogue.starting))

    def save(self, form: CatalogueForm) -> HttpResponse:
        item = self.catalogue.create(agency=self.agency, by=self.by, **form.changes())
        return self.done(_("%(name)s was created.") % {"name": item.name}, self.catalogue.item_url, item.uuid)

    def context(self) -> dict[str, object]:
        return {"catalogue": self.catalogue, "heading": self.catalogue.new_label, "submit": _("Create")}


class CatalogueEdit(FormPage[CatalogueForm]):
    catalogue: ClassVar[Catalogue] = PLANS
    template_name = "agency/catalogue/form.html"
    item: Plan | Addon

    def find(self, **ids: UUID | None) -> None:
        self.item = self.catalogue.find(self.agency, ids["uuid"], live=True)
        self.name = self.item.name

    def make_form(self, data: Mapping[str, object] | None = None) -> CatalogueForm:
        return CatalogueForm(data, initial=catalogue_values(self.item))

    def save(self, form: CatalogueForm) -> HttpResponse:
        self.item = update_item(item=self.item, by=self.by, **form.changes())
        return self.done(_("%(name)s was saved.") % {"name": self.item.name}, self.catalogue.item_url, self.item.uuid)

    def context(self) -> dict[str, object]:
        heading = _("Edit %(name)s") % {"name": self.name}
        return {"catalogue": self.catalogue, "heading": heading, "submit": _("Save"), "item": self.item}


class CatalogueArchive(FormPage[ConfirmationForm]):
    catalogue: ClassVar[Catalogue] = PLANS
    item: Plan | Addon

    def find(self, **ids: UUID | None) -> None:
        self.item = self.catalogue.find(self.agency, ids["uuid"], live=True)

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        archive_item(item=self.item, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was archived.") % {"name": self.item.name}, self.catalogue.list_url)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [
                breadcrumb(self.catalogue.title, self.catalogue.list_url),
                breadcrumb(self.item.name, self.catalogue.item_url, self.item.uuid),
            ],
            "heading": _("Archive %(name)s?") % {"name": self.item.name},
            "text": _(
                "It can no longer be chosen. Sub-accounts that have it keep it and its limits. This cannot be undone."
            ),
            "submit": self.catalogue.archive_label,
            "danger": True,
        }


class DefaultPlan(ConsoleView):
    """Makes a plan the default of new sub-accounts, or removes it as the default."""

    nav = PLANS.list_url

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        plan = PLANS.find(self.agency, uuid, live=True)
        chosen = request.POST.get("default") != "no"
        if isinstance(plan, Plan) and (chosen or plan.is_default):
            choose_default_plan(agency=self.agency, plan=plan if chosen else None, by=self.by)
        message = _("New sub-accounts get %(name)s.") if chosen else _("New sub-accounts no longer get %(name)s.")
        return self.done(message % {"name": plan.name}, PLANS.item_url, plan.uuid)
