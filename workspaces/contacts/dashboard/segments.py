"""Dashboard pages about a workspace's segments."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import ConfirmationForm
from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.contacts.dashboard.segment_forms import (
    ADD,
    COUNT,
    HAS_ROWS,
    REMOVE,
    Finding,
    SegmentForm,
    TypedSegment,
    finding_of,
    finding_with,
    rows_of,
)
from workspaces.contacts.models import Segment
from workspaces.contacts.models.contacts import LONGEST_TAG
from workspaces.contacts.pages import actions_of
from workspaces.contacts.services import (
    SegmentNotFound,
    attach_size,
    attach_sizes,
    create_segment,
    remove_segment,
    update_segment,
)
from workspaces.contacts.services.segments import SegmentChanges
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


class SegmentFormView(DashboardForm[SegmentForm]):
    """The form of a segment. Every button but the one that saves shows it again with what was typed."""

    nav = LIST
    template_name = "contacts/segment.html"
    kept: Mapping[str, Any] = {}
    finding: Finding

    def only_looks(self, request: HttpRequest) -> bool:
        return bool(request.POST.get("do"))

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        typed = TypedSegment.sent(request.POST.dict())
        typed.apply(request.POST["do"])
        return self.show(self.form_of(typed, bound=False))

    def make_form(self, data: Any = None) -> SegmentForm:
        if data is None:
            return self.form_of(self.typed_before(), bound=False)
        return self.form_of(TypedSegment.sent(data.dict()), bound=True)

    def form_of(self, typed: TypedSegment, *, bound: bool) -> SegmentForm:
        return SegmentForm(typed, workspace=self.workspace, kept=self.kept, bound=bound)

    def typed_before(self) -> TypedSegment:
        """Return what stands in the form at first. Each page overrides this."""
        raise NotImplementedError

    def show(self, form: SegmentForm, *, status: int = 200) -> HttpResponse:
        self.finding = self.count(form)
        return super().show(form, status=status)

    def count(self, form: SegmentForm) -> Finding:
        """Count the contacts that the form's conditions find now."""
        return finding_of(self.form_of(form.typed, bound=True))

    def context(self) -> dict[str, object]:
        return {"finding": self.finding, "buttons": {"remove": REMOVE, "count": COUNT}, "has_rows": HAS_ROWS}


class SegmentNew(SegmentFormView):
    creates = True

    def typed_before(self) -> TypedSegment:
        """Begin with a row for tags, because most segments ask for them. `?tag=…` fills it in."""
        typed = TypedSegment()
        typed.apply(f"{ADD}tags")
        typed.rows[0]["value"] = self.request.GET.get("tag", "")[:LONGEST_TAG]
        return typed

    def save(self, form: SegmentForm) -> HttpResponse:
        name, now = form.cleaned_data["name"], timezone.now()
        made = create_segment(workspace=self.workspace, name=name, filter=form.filter(), now=now, by=self.by)
        return self.done(_("The segment was saved."), ONE, made.uuid)


class SegmentDetail(DashboardView):
    """A page about one segment of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    segment: Segment

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Segment.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise SegmentNotFound
        found.workspace = self.workspace
        self.segment = found


class SegmentPage(SegmentDetail, SegmentFormView):
    """Shows a segment's conditions and how many contacts they find, and changes them."""

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        self.kept = self.segment.filter

    def typed_before(self) -> TypedSegment:
        return TypedSegment(self.segment.name, rows_of(self.kept, ZoneInfo(self.workspace.timezone)))

    def count(self, form: SegmentForm) -> Finding:
        """Use the stored number, if there is one, as long as nothing was typed."""
        if form.typed == self.typed_before():
            return finding_with(attach_size(self.segment).size, self.workspace, self.segment.filter)
        return super().count(form)

    def save(self, form: SegmentForm) -> HttpResponse:
        changes: SegmentChanges = {"name": form.cleaned_data["name"]}
        if form.typed.says_rows:
            changes["filter"] = form.filter()
        saved = update_segment(segment=self.segment, now=timezone.now(), by=self.by, **changes)
        return self.done(_("The segment was saved."), ONE, saved.uuid)

    def context(self) -> dict[str, object]:
        actions = actions_of(self.segment) if self.may_write else ()
        return {**super().context(), "segment": self.segment, "segment_actions": actions}


class SegmentRemove(SegmentDetail, DashboardForm[ConfirmationForm]):
    """Asks for confirmation, then removes the segment. Its contacts stay."""

    template_name = "contacts/remove_segment.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_segment(segment=self.segment, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.segment.name}, LIST)

    def context(self) -> dict[str, object]:
        return {"segment": self.segment}
