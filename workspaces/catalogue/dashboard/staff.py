"""Pages about the staff."""

from collections.abc import Mapping
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import EmailField, NameField
from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.catalogue.dashboard.forms import ConfirmView, Link, ObjectFormView
from workspaces.catalogue.models import Staff
from workspaces.catalogue.services import StaffNotFound, change_staff, create_staff, delete_staff
from workspaces.subaccounts.dashboard.base import DashboardView

STAFF_LIST, STAFF_PAGE = "app:staff", "app:staff-member"


class StaffForm(forms.Form):
    name = NameField()
    email = EmailField(required=False)


class StaffList(ListPage, DashboardView):
    """Lists all staff by name."""

    nav = STAFF_LIST
    table = Table(
        caption=gettext_lazy("Staff"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),
            Column(name="email", label=gettext_lazy("E-mail")),
        ),
        sort="name",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.list_page("catalogue/staff.html", self.read_table().fetch(Staff.objects.of(self.workspace)))


class StaffNew(ObjectFormView[StaffForm]):
    nav = STAFF_LIST
    creates = True

    def heading(self) -> str:
        return _("New staff member")

    def submit(self) -> str:
        return _("Add staff member")

    def crumbs(self) -> list[Link]:
        return [(_("Staff"), reverse(STAFF_LIST))]

    def make_form(self, data: Mapping[str, object] | None = None) -> StaffForm:
        return StaffForm(data)

    def save(self, form: StaffForm) -> HttpResponse:
        name, email = form.cleaned_data["name"], form.cleaned_data["email"] or None
        staff = create_staff(workspace=self.workspace, name=name, email=email, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was added.") % {"name": staff.name}, STAFF_LIST)


class StaffDetail(DashboardView):
    """A page about one staff member of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = STAFF_LIST
    form_page = STAFF_PAGE
    staff: Staff

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Staff.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise StaffNotFound
        found.workspace = self.workspace
        self.staff = found


class StaffPage(StaffDetail, ObjectFormView[StaffForm]):
    template_name = "catalogue/staff_member.html"

    def heading(self) -> str:
        return self.staff.name

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Staff"), reverse(STAFF_LIST))]

    def links(self) -> list[Link]:
        return [(_("Delete"), reverse("app:staff-delete", args=[self.staff.uuid]))]

    def context(self) -> dict[str, object]:
        return {**super().context(), "staff": self.staff}

    def make_form(self, data: Mapping[str, object] | None = None) -> StaffForm:
        return StaffForm(data, initial={"name": self.staff.name, "email": self.staff.email or ""})

    def save(self, form: StaffForm) -> HttpResponse:
        name, email = form.cleaned_data["name"], form.cleaned_data["email"] or None
        changed = change_staff(staff=self.staff, name=name, email=email, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was saved.") % {"name": changed.name}, STAFF_LIST)


class StaffDelete(StaffDetail, ConfirmView):
    def heading(self) -> str:
        return _("Delete %(name)s?") % {"name": self.staff.name}

    def submit(self) -> str:
        return _("Delete staff member")

    def text(self) -> str:
        return _("Past appointments and classes keep the name.")

    def crumbs(self) -> list[Link]:
        return [(_("Staff"), reverse(STAFF_LIST)), (self.staff.name, reverse(STAFF_PAGE, args=[self.staff.uuid]))]

    def save(self, form: object) -> HttpResponse:
        delete_staff(staff=self.staff, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.staff.name}, STAFF_LIST)
