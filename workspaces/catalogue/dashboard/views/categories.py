"""Pages about the categories of services and products: the list, and one category."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.catalogue.dashboard.forms import CategoryForm
from workspaces.catalogue.dashboard.pages import EntryForm, EntryQuestion, Link
from workspaces.catalogue.models import ServiceCategory
from workspaces.catalogue.services import ServiceCategoryNotFound, create_category, delete_category, rename_category
from workspaces.subaccounts.dashboard.base import DashboardView

NAV, LIST, ONE = "app:services", "app:service-categories", "app:service-category"


class ServiceCategories(ListPage, DashboardView):
    """Lists all categories by name."""

    nav = NAV
    table = Table(
        caption=gettext_lazy("Categories"),
        columns=(Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),),
        sort="name",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table().fetch(ServiceCategory.objects.of(self.workspace))
        return self.list_page("catalogue/categories.html", state)


class ServiceCategoryNew(EntryForm[CategoryForm]):
    nav = NAV
    creates = True

    def heading(self) -> str:
        return _("New category")

    def submit(self) -> str:
        return _("Add category")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(NAV)), (_("Categories"), reverse(LIST))]

    def make_form(self, data: Any = None) -> CategoryForm:
        return CategoryForm(data)

    def save(self, form: CategoryForm) -> HttpResponse:
        name = form.cleaned_data["name"]
        category = create_category(workspace=self.workspace, name=name, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was added.") % {"name": category.name}, LIST)


class OneServiceCategory(DashboardView):
    """A page about one category of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = NAV
    form_page = ONE
    category: ServiceCategory

    def find(self, **ids: Any) -> None:
        found = with_id(ServiceCategory.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise ServiceCategoryNotFound
        found.workspace = self.workspace
        self.category = found


class ServiceCategoryPage(OneServiceCategory, EntryForm[CategoryForm]):
    def heading(self) -> str:
        return self.category.name

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(NAV)), (_("Categories"), reverse(LIST))]

    def links(self) -> list[Link]:
        return [(_("Delete"), reverse("app:service-category-delete", args=[self.category.uuid]))]

    def make_form(self, data: Any = None) -> CategoryForm:
        return CategoryForm(data, initial={"name": self.category.name})

    def save(self, form: CategoryForm) -> HttpResponse:
        renamed = rename_category(category=self.category, name=form.cleaned_data["name"], by=self.by)
        return self.done(_("%(name)s was saved.") % {"name": renamed.name}, LIST)


class ServiceCategoryDelete(OneServiceCategory, EntryQuestion):
    def heading(self) -> str:
        return _("Delete %(name)s?") % {"name": self.category.name}

    def submit(self) -> str:
        return _("Delete category")

    def text(self) -> str:
        return _("Nothing may stand in it any more.")

    def crumbs(self) -> list[Link]:
        return [(_("Categories"), reverse(LIST)), (self.category.name, reverse(ONE, args=[self.category.uuid]))]

    def save(self, form: Any) -> HttpResponse:
        delete_category(category=self.category, by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.category.name}, LIST)
