"""Pages about services, and about the categories of services and products."""

from collections.abc import Mapping
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.catalogue.dashboard.forms import CategoryForm, ConfirmView, Link, ObjectFormView, ServiceForm
from workspaces.catalogue.models import Service, ServiceCategory
from workspaces.catalogue.services import (
    ServiceCategoryNotFound,
    ServiceNotFound,
    change_service,
    create_category,
    create_service,
    delete_category,
    delete_service,
    rename_category,
)
from workspaces.subaccounts.dashboard.base import DashboardView

NAV, CATEGORY_LIST, CATEGORY_PAGE = "app:services", "app:service-categories", "app:service-category"


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


class ServiceCategoryNew(ObjectFormView[CategoryForm]):
    nav = NAV
    creates = True

    def heading(self) -> str:
        return _("New category")

    def submit(self) -> str:
        return _("Add category")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(NAV)), (_("Categories"), reverse(CATEGORY_LIST))]

    def make_form(self, data: Mapping[str, object] | None = None) -> CategoryForm:
        return CategoryForm(data)

    def save(self, form: CategoryForm) -> HttpResponse:
        name = form.cleaned_data["name"]
        category = create_category(workspace=self.workspace, name=name, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was added.") % {"name": category.name}, CATEGORY_LIST)


class ServiceCategoryDetail(DashboardView):
    """A page about one category of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = NAV
    form_page = CATEGORY_PAGE
    category: ServiceCategory

    def find(self, **ids: UUID | None) -> None:
        found = with_id(ServiceCategory.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise ServiceCategoryNotFound
        found.workspace = self.workspace
        self.category = found


class ServiceCategoryPage(ServiceCategoryDetail, ObjectFormView[CategoryForm]):
    def heading(self) -> str:
        return self.category.name

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(NAV)), (_("Categories"), reverse(CATEGORY_LIST))]

    def links(self) -> list[Link]:
        return [(_("Delete"), reverse("app:service-category-delete", args=[self.category.uuid]))]

    def make_form(self, data: Mapping[str, object] | None = None) -> CategoryForm:
        return CategoryForm(data, initial={"name": self.category.name})

    def save(self, form: CategoryForm) -> HttpResponse:
        renamed = rename_category(category=self.category, name=form.cleaned_data["name"], by=self.by)
        return self.done(_("%(name)s was saved.") % {"name": renamed.name}, CATEGORY_LIST)


class ServiceCategoryDelete(ServiceCategoryDetail, ConfirmView):
    def heading(self) -> str:
        return _("Delete %(name)s?") % {"name": self.category.name}

    def submit(self) -> str:
        return _("Delete category")

    def text(self) -> str:
        return _("You can only delete an empty category.")

    def crumbs(self) -> list[Link]:
        return [
            (_("Categories"), reverse(CATEGORY_LIST)),
            (self.category.name, reverse(CATEGORY_PAGE, args=[self.category.uuid])),
        ]

    def save(self, form: object) -> HttpResponse:
        delete_category(category=self.category, by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.category.name}, CATEGORY_LIST)


SERVICE_LIST, SERVICE_PAGE = "app:services", "app:service"


class Services(ListPage, DashboardView):
    """Lists all services by name."""

    nav = SERVICE_LIST
    table = Table(
        caption=gettext_lazy("Services"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),
            Column(name="kind", label=gettext_lazy("Kind"), order=("kind", "name_key", "id")),
            Column(name="duration", label=gettext_lazy("Duration"), order=("duration_minutes", "name_key", "id")),
            Column(name="price", label=gettext_lazy("Price"), order=("price", "name_key", "id")),
        ),
        sort="name",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        rows = Service.objects.of(self.workspace).select_related("category")
        state = self.read_table().fetch(rows)
        return self.list_page("catalogue/services.html", state)


class ServiceNew(ObjectFormView[ServiceForm]):
    template_name = "catalogue/service.html"
    nav = SERVICE_LIST
    creates = True

    def heading(self) -> str:
        return _("New service")

    def submit(self) -> str:
        return _("Add service")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(SERVICE_LIST))]

    def make_form(self, data: Mapping[str, object] | None = None) -> ServiceForm:
        return ServiceForm(data, workspace=self.workspace)

    def save(self, form: ServiceForm) -> HttpResponse:
        service = create_service(workspace=self.workspace, now=timezone.now(), by=self.by, **form.values())
        return self.done(_("%(name)s was added.") % {"name": service.name}, SERVICE_LIST)


class ServiceDetail(DashboardView):
    """A page about one service of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = SERVICE_LIST
    form_page = SERVICE_PAGE
    service: Service

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Service.objects.of(self.workspace).select_related("category"), ids["uuid"])
        if found is None:
            raise ServiceNotFound
        found.workspace = self.workspace
        self.service = found


class ServicePage(ServiceDetail, ObjectFormView[ServiceForm]):
    template_name = "catalogue/service.html"

    def heading(self) -> str:
        return self.service.name

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(SERVICE_LIST))]

    def links(self) -> list[Link]:
        return [(_("Delete"), reverse("app:service-delete", args=[self.service.uuid]))]

    def make_form(self, data: Mapping[str, object] | None = None) -> ServiceForm:
        return ServiceForm(data, workspace=self.workspace, service=self.service)

    def save(self, form: ServiceForm) -> HttpResponse:
        changed = change_service(service=self.service, now=timezone.now(), by=self.by, **form.values())
        return self.done(_("%(name)s was saved.") % {"name": changed.name}, SERVICE_PAGE, changed.uuid)


class ServiceDelete(ServiceDetail, ConfirmView):
    def heading(self) -> str:
        return _("Delete %(name)s?") % {"name": self.service.name}

    def submit(self) -> str:
        return _("Delete service")

    def text(self) -> str:
        return _("It can no longer be booked. Past classes keep its name.")

    def crumbs(self) -> list[Link]:
        return [
            (_("Services"), reverse(SERVICE_LIST)),
            (self.service.name, reverse(SERVICE_PAGE, args=[self.service.uuid])),
        ]

    def save(self, form: object) -> HttpResponse:
        delete_service(service=self.service, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.service.name}, SERVICE_LIST)
