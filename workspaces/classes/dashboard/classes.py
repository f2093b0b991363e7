"""The dashboard's pages about single classes, their participants and waiting lists."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import paginate, with_id
from agency.pages.periods import DAYS_AHEAD, days_ahead
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Choices, Column, Filter, Table, TableState
from config.api.requests import NothingMatches, QueryParameters, is_storable, parse_uuid
from config.db import like_pattern, name_key
from config.hooks import Registry
from workspaces.catalogue.dashboard.forms import ConfirmView, Link, ObjectFormView
from workspaces.catalogue.models import Service, Staff
from workspaces.classes.dashboard.forms import ClassEditForm, ClassForm
from workspaces.classes.dashboard.panels import CLASS_PAGE, classes_with
from workspaces.classes.models import ClassSession
from workspaces.classes.serializers import ClassFilterSet
from workspaces.classes.services import (
    ClassNotFound,
    ParticipantNotFound,
    WaitingListEntryNotFound,
    add_participant,
    cancel_class,
    change_class,
    join_waiting_list,
    leave_waiting_list,
    remove_participant,
    schedule_class,
)
from workspaces.classes.services.waiting_lists import MOST_WAITING
from workspaces.contacts.dashboard.finding import ListByContact
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.subaccounts.dashboard.base import DashboardView


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Give the first moment of a day in the time zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


CLASS_LIST = "app:classes"
Status = ClassSession.Status
MOST_FOUND = 10
# The filters are selects without a search, so they offer only so many choices.
MOST_CHOICES = 200


class Classes(ListByContact):
    """Lists classes by their start: between two days, or from today on if the filters name no day.

    Of a contact it lists the classes with a seat or a place on the waiting list, from the first one on.
    """

    nav = CLASS_LIST
    table = Table(
        caption=gettext_lazy("Classes"),
        columns=(
            Column(name="class", label=gettext_lazy("Class")),
            Column(name="starts", label=gettext_lazy("Starts"), order=("starts_at", "id")),
            Column(name="seats", label=gettext_lazy("Seats taken")),
            Column(name="status", label=gettext_lazy("Status")),
        ),
        filters=(
            Filter(name="service", label=gettext_lazy("Service"), is_choice=True),
            Filter(name="staff", label=gettext_lazy("Staff"), is_choice=True),
            DAYS_AHEAD,
            Filter(name="from", label=gettext_lazy("From"), is_date=True),
            Filter(name="to", label=gettext_lazy("Until"), is_date=True),
            Filter(name="status", label=gettext_lazy("Status"), is_choice=True, choices=Status.choices),
        ),
        sort="starts",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, zone = self.read_table(self._choices()), ZoneInfo(self.workspace.timezone)
        rows: QuerySet[ClassSession] = ClassSession.objects.of(self.workspace).with_names()
        try:
            rows = ClassFilterSet.apply(QueryParameters.of(request), rows)
        except NothingMatches:
            rows = rows.none()
        rows = rows.filter(pk__in=classes_with(self.contact)) if self.contact else rows
        state.fetch(self._between_days(rows, state, zone))
        return self.list_page("classes/classes.html", state, zone=zone)

    def _choices(self) -> dict[str, Choices]:
        services = Service.objects.of(self.workspace).filter(kind=Service.Kind.CLASS).by_name()
        staff = Staff.objects.of(self.workspace).by_name()
        return {
            "service": [(str(one.uuid), one.name) for one in services[:MOST_CHOICES]],
            "staff": [(str(one.uuid), one.name) for one in staff[:MOST_CHOICES]],
        }

    def _between_days(
        self, rows: "QuerySet[ClassSession]", state: TableState, zone: ZoneInfo
    ) -> "QuerySet[ClassSession]":
        """Keep the classes of the days of the filters. Those of one contact begin with the first one."""
        days = days_ahead(state, timezone.now().astimezone(zone).date(), begins_today=self.contact is None)
        rows = rows.filter(starts_at__gte=start_of_day(days.first, zone)) if days.first else rows
        return rows.filter(starts_at__lt=start_of_day(days.last + timedelta(days=1), zone)) if days.last else rows


class ClassNew(ObjectFormView[ClassForm]):
    nav = CLASS_LIST
    creates = True

    def heading(self) -> str:
        return _("New class")

    def submit(self) -> str:
        return _("Schedule class")

    def crumbs(self) -> list[Link]:
        return [(_("Classes"), reverse(CLASS_LIST))]

    def links(self) -> list[Link]:
        return [(_("New service"), reverse("app:service-new"))]

    def make_form(self, data: Mapping[str, object] | None = None) -> ClassForm:
        return ClassForm(data, workspace=self.workspace)

    def save(self, form: ClassForm) -> HttpResponse:
        session = schedule_class(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was scheduled.") % {"name": session.service.name}, CLASS_PAGE, session.uuid)


class ClassDetail(DashboardView):
    """A page about one class of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = CLASS_LIST
    form_page = CLASS_PAGE
    session: ClassSession

    def find(self, **ids: UUID | None) -> None:
        found = with_id(ClassSession.objects.of(self.workspace).with_names().select_related("series"), ids["uuid"])
        if found is None:
            raise ClassNotFound
        found.workspace = self.workspace
        self.session = found

    def contact_sent(self) -> Contact:
        """Find the contact that a form names. Raises `ContactNotFound`."""
        contact = with_id(Contact.objects.of(self.workspace), parse_uuid(self.request.POST.get("contact", "")))
        if contact is None:
            raise ContactNotFound
        return contact


@dataclass(frozen=True, slots=True)
class SeatSource:
    """A way to come to a class, and a function that says which of some contacts, by their keys, came that way."""

    name: str
    label: StrOrPromise
    of: Callable[[ClassSession, Collection[int]], Collection[int]]


seat_sources = Registry[SeatSource](
    "sources of seats in classes",
    called="the dashboard's page of a class calls each for the contacts that it shows",
    transaction="none",
    failure="the page answers 500",
)


def sources_of(session: ClassSession, contacts: Collection[int]) -> dict[int, StrOrPromise]:
    """Return how contacts came to a class, by their keys, as far as a source knows it."""
    return {one: source.label for source in seat_sources for one in source.of(session, contacts)}


class ClassPage(ClassDetail):
    """Shows a class's participants and waiting list, and a search for contacts to add to either."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        rows, pages = paginate(request, self.session.participants.select_related("contact").order_by("id"))
        waiting = list(self.session.waiting.select_related("contact").order_by("id")[:MOST_WAITING])
        contacts = [*(seat.contact_id for seat in rows), *(entry.contact_id for entry in waiting)]
        came_by = sources_of(self.session, contacts)
        search = request.GET.get("search", "").strip()
        return self.page(
            "classes/class.html",
            session=self.session,
            is_scheduled=self.session.status == Status.SCHEDULED,
            rows=rows,
            pages=pages,
            waiting=waiting,
            came_by=came_by,
            zone=ZoneInfo(self.workspace.timezone),
            search=search,
            found=self._found(search),
        )

    def _found(self, search: str) -> list[Contact]:
        """Find a few contacts who neither have a seat in this class nor wait for one."""
        if not search or not is_storable(search):
            return []
        rows = Contact.objects.of(self.workspace).filter(search_key__like=like_pattern(name_key(search)))
        return list(
            rows.exclude(class_seats__session=self.session)
            .exclude(class_waits__session=self.session)
            .newest_first()[:MOST_FOUND]
        )


class ClassEdit(ClassDetail, ObjectFormView[ClassEditForm]):
    def heading(self) -> str:
        return _("Change %(name)s") % {"name": self.session.service.name}

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        own = reverse(CLASS_PAGE, args=[self.session.uuid])
        return [(_("Classes"), reverse(CLASS_LIST)), (self.session.service.name, own)]

    def context(self) -> dict[str, object]:
        return {**super().context(), "text": self.text()}

    def text(self) -> str:
        taken = _("People who have a seat are not notified.") if self.session.participants_count else ""
        alone = _("Changes to the series no longer affect this class.") if self.session.series_id else ""
        return " ".join(filter(None, (taken, alone)))

    def make_form(self, data: Mapping[str, object] | None = None) -> ClassEditForm:
        return ClassEditForm(data, workspace=self.workspace, session=self.session)

    def save(self, form: ClassEditForm) -> HttpResponse:
        values = dict(form.cleaned_data)
        if values["ends_at"] == self.session.ends_at:
            values["ends_at"] = None  # a class that only starts at another time keeps its length
        changed = change_class(session=self.session, now=timezone.now(), by=self.by, **values)
        return self.done(_("%(name)s was saved.") % {"name": changed.service.name}, CLASS_PAGE, changed.uuid)


class ClassCancel(ClassDetail, ConfirmView):
    def heading(self) -> str:
        return _("Cancel %(name)s?") % {"name": self.session.service.name}

    def submit(self) -> str:
        return _("Cancel this class")

    def text(self) -> str:
        return _("The class takes no more participants. People who have a seat are not notified.")

    def crumbs(self) -> list[Link]:
        own = reverse(CLASS_PAGE, args=[self.session.uuid])
        return [(_("Classes"), reverse(CLASS_LIST)), (self.session.service.name, own)]

    def save(self, form: object) -> HttpResponse:
        cancel_class(session=self.session, now=timezone.now(), by=self.by)
        return self.done(_("The class is cancelled."), CLASS_PAGE, self.session.uuid)


class ParticipantAdd(ClassDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        contact = self.contact_sent()
        add_participant(session=self.session, contact=contact, now=timezone.now())
        return self.done(_("%(name)s takes part.") % {"name": contact}, CLASS_PAGE, self.session.uuid)


class ParticipantRemove(ClassDetail):
    def post(self, request: HttpRequest, uuid: UUID | None, contact: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        found = with_id(Contact.objects.of(self.workspace), contact)
        if found is None:
            raise ParticipantNotFound
        remove_participant(session=self.session, contact=found, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s no longer takes part.") % {"name": found}, CLASS_PAGE, self.session.uuid)


class WaitingAdd(ClassDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        contact = self.contact_sent()
        join_waiting_list(session=self.session, contact=contact, now=timezone.now())
        return self.done(_("%(name)s is on the waiting list.") % {"name": contact}, CLASS_PAGE, self.session.uuid)


class WaitingRemove(ClassDetail):
    def post(self, request: HttpRequest, uuid: UUID | None, contact: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        found = with_id(Contact.objects.of(self.workspace), contact)
        if found is None:
            raise WaitingListEntryNotFound
        leave_waiting_list(session=self.session, contact=found, by=self.by)
        return self.done(
            _("%(name)s is no longer on the waiting list.") % {"name": found}, CLASS_PAGE, self.session.uuid
        )
