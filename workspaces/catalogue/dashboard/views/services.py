"""Pages about services: the list, and one service."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.catalogue.dashboard.forms import ServiceForm
from workspaces.catalogue.dashboard.pages import EntryForm, EntryQuestion, Link, shown_decimals
from workspaces.catalogue.models import Service
from workspaces.catalogue.services import ServiceNotFound, change_service, create_service, delete_service
from workspaces.subaccounts.dashboard.base import DashboardView

LIST, ONE = "app:services", "app:service"


class Services(ListPage, DashboardView):
    """Lists all services by name."""

    nav = LIST
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
        return self.list_page("catalogue/services.html", state, decimals=shown_decimals(self.workspace))


class ServiceNew(EntryForm[ServiceForm]):
    nav = LIST
    creates = True

    def heading(self) -> str:
        return _("New service")

    def submit(self) -> str:
        return _("Add service")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(LIST))]

    def make_form(self, data: Any = None) -> ServiceForm:
        return ServiceForm(data, workspace=self.workspace)

    def save(self, form: ServiceForm) -> HttpResponse:
        service = create_service(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was added.") % {"name": service.name}, LIST)


class OneService(DashboardView):
    """A page about one service of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    service: Service

    def find(self, **ids: Any) -> None:
        found = with_id(Service.objects.of(self.workspace).select_related("category"), ids["uuid"])
        if found is None:
            raise ServiceNotFound
        found.workspace = self.workspace
        self.service = found


class ServicePage(OneService, EntryForm[ServiceForm]):
    def heading(self) -> str:
        return self.service.name

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(LIST))]

    def links(self) -> list[Link]:
        return [(_("Delete"), reverse("app:service-delete", args=[self.service.uuid]))]

    def make_form(self, data: Any = None) -> ServiceForm:
        return ServiceForm(data, workspace=self.workspace, service=self.service)

    def save(self, form: ServiceForm) -> HttpResponse:
        changed = change_service(service=self.service, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was saved.") % {"name": changed.name}, ONE, changed.uuid)


class ServiceDelete(OneService, EntryQuestion):
    def heading(self) -> str:
        return _("Delete %(name)s?") % {"name": self.service.name}

    def submit(self) -> str:
        return _("Delete service")

    def text(self) -> str:
        return _("It can be booked no longer. Classes of the past keep its name.")

    def crumbs(self) -> list[Link]:
        return [(_("Services"), reverse(LIST)), (self.service.name, reverse(ONE, args=[self.service.uuid]))]

    def save(self, form: Any) -> HttpResponse:
        delete_service(service=self.service, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.service.name}, LIST)
