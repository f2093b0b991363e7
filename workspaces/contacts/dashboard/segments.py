"""Dashboard pages about a workspace's segments."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.contacts.dashboard.forms import SegmentForm
from workspaces.contacts.models import Segment
from workspaces.contacts.services import (
    SegmentNotFound,
    attach_size,
    attach_sizes,
    create_segment,
    remove_segment,
    update_segment,
)
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView

LIST = "app:segments"
ONE = "app:segment"


class Segments(ListPage, DashboardView):
    """All segments, newest first, each with the number of contacts that it finds now."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Segments"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),
            Column(name="contacts", label=gettext_lazy("Contacts")),
            Column(name="changed", label=gettext_lazy("Changed")),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table().fetch(Segment.objects.of(self.workspace).newest_first())
        state.rows = attach_sizes(self.workspace, state.rows)
        return self.list_page("contacts/segments.html", state)


class SegmentNew(DashboardForm[SegmentForm]):
    nav = LIST
    creates = True
    template_name = "contacts/segment.html"

    def make_form(self, data: Any = None) -> SegmentForm:
        return SegmentForm(data, timezone=self.workspace.timezone)

    def save(self, form: SegmentForm) -> HttpResponse:
        name, now = form.cleaned_data["name"], timezone.now()
        made = create_segment(workspace=self.workspace, name=name, filter=form.filter(), now=now, by=self.by)
        return self.done(_("The segment was saved."), ONE, made.uuid)


class SegmentDetail(DashboardView):
    """A page about one segment of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    segment: Segment

    def find(self, **ids: Any) -> None:
        found = with_id(Segment.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise SegmentNotFound
        found.workspace = self.workspace
        self.segment = found


class SegmentPage(SegmentDetail, DashboardForm[SegmentForm]):
    template_name = "contacts/segment.html"

    def make_form(self, data: Any = None) -> SegmentForm:
        return SegmentForm(data, timezone=self.workspace.timezone, segment=self.segment)

    def save(self, form: SegmentForm) -> HttpResponse:
        name, now = form.cleaned_data["name"], timezone.now()
        saved = update_segment(segment=self.segment, name=name, filter=form.filter(), now=now, by=self.by)
        return self.done(_("The segment was saved."), ONE, saved.uuid)

    def context(self) -> dict[str, Any]:
        return {"segment": attach_size(self.segment)}


class SegmentRemove(SegmentDetail, DashboardForm[ConfirmationForm]):
    """Asks for confirmation, then removes the segment. Its contacts stay."""

    template_name = "contacts/remove_segment.html"

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_segment(segment=self.segment, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.segment.name}, LIST)

    def context(self) -> dict[str, Any]:
        return {"segment": self.segment}
