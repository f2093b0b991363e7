"""The dashboard's pages about single classes, their participants and waiting lists."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.pages.activity import action_label
from agency.pages.pagination import paginate, with_id
from agency.pages.periods import DAYS_AHEAD, days_ahead
from agency.pages.tables import Choices, Column, Filter, Table, TableState
from config.api.requests import NothingMatches, QueryParameters, is_storable, parse_uuid
from config.db import like_pattern, name_key
from config.formats import format_day_time
from workspaces.catalogue.dashboard.form_views import ConfirmView, Link, ObjectFormView
from workspaces.catalogue.models import Service, Staff
from workspaces.classes.dashboard.forms import ClassEditForm, ClassForm
from workspaces.classes.models import ClassSession, Participant, WaitingListEntry
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
from workspaces.contacts.pages import TimelineEntry
from workspaces.contacts.services import ContactNotFound
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.dashboard.home import ActivityNames
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection, today_of


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Give the first moment of a day in the time zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


CLASS_LIST, CLASS_PAGE = "app:classes", "app:class"
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

    def make_form(self, data: Any = None) -> ClassForm:
        return ClassForm(data, workspace=self.workspace)

    def save(self, form: ClassForm) -> HttpResponse:
        session = schedule_class(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was scheduled.") % {"name": session.service.name}, CLASS_PAGE, session.uuid)


class ClassDetail(DashboardView):
    """A page about one class of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = CLASS_LIST
    form_page = CLASS_PAGE
    session: ClassSession

    def find(self, **ids: Any) -> None:
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


class ClassPage(ClassDetail):
    """Shows a class's participants and waiting list, and a search for contacts to add to either."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        rows, pages = paginate(request, self.session.participants.select_related("contact").order_by("id"))
        search = request.GET.get("search", "").strip()
        return self.page(
            "classes/class.html",
            session=self.session,
            is_scheduled=self.session.status == Status.SCHEDULED,
            rows=rows,
            pages=pages,
            waiting=list(self.session.waiting.select_related("contact").order_by("id")[:MOST_WAITING]),
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

    def context(self) -> dict[str, Any]:
        return {**super().context(), "text": self.text()}

    def text(self) -> str:
        taken = _("People who have a seat are not notified.") if self.session.participants_count else ""
        alone = _("Changes to the series no longer affect this class.") if self.session.series_id else ""
        return " ".join(filter(None, (taken, alone)))

    def make_form(self, data: Any = None) -> ClassEditForm:
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

    def save(self, form: Any) -> HttpResponse:
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


# On pages about a contact ---------------------------------------------------------------------------------------

MOST_COMING: Final = 3
MOST_PAST: Final = 2


def classes_with(contact: Contact) -> "QuerySet[Any, Any]":
    """Return the keys of the classes in which the contact has a seat or waits for one."""
    seats = Participant.objects.filter(contact=contact).values("session")
    return seats.union(WaitingListEntry.objects.filter(contact=contact).values("session"), all=True)


def classes_of_contact(contact: Contact) -> Mapping[str, Any]:
    """Give the contact's next classes, seats and waiting lists, and the last classes before them."""
    now = timezone.now()
    seats = Participant.objects.filter(contact=contact).values("session")
    waits = WaitingListEntry.objects.filter(contact=contact)
    rows = ClassSession.objects.of(contact.workspace).with_names()
    coming = rows.filter(pk__in=classes_with(contact), ends_at__gt=now)
    is_waiting = Exists(waits.filter(session=OuterRef("pk")))
    coming = coming.exclude(status=Status.CANCELLED).annotate(is_waiting=is_waiting)
    found = list(coming.by_start()[: MOST_COMING + 1])
    past = rows.filter(pk__in=seats, ends_at__lte=now).order_by("-starts_at", "-id")
    over = list(past[: MOST_PAST + 1])
    return {
        "contact": contact,
        "classes": [*found[:MOST_COMING], *over[:MOST_PAST]],
        "has_more": len(found) > MOST_COMING or len(over) > MOST_PAST,
        "zone": ZoneInfo(contact.workspace.timezone),
    }


TIMELINE_ACTIONS: Final = ("class.seat_removed", "class.waiting_list_left")


def classes_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest seats and places on waiting lists that a contact got or lost, for the contact's timeline."""
    zone = ZoneInfo(contact.workspace.timezone)
    entries = _lost_of_timeline(contact, before, most, zone)
    for model, title in ((Participant, _("Seat in a class: %(name)s")), (WaitingListEntry, _("Waits for: %(name)s"))):
        rows = model.objects.filter(contact=contact, created_at__lt=before).select_related("session__service")
        for row in rows.order_by("-created_at", "-id")[:most]:
            session = row.session
            entries.append(
                TimelineEntry(
                    at=row.created_at,
                    icon="calendar",
                    title=title % {"name": session.service.name},
                    text=format_day_time(session.starts_at.astimezone(zone), "yMMMEd"),
                    state="" if session.status == Status.SCHEDULED else session.get_status_display(),
                    url=reverse(CLASS_PAGE, args=[session.uuid]),
                )
            )
    return entries


def _lost_of_timeline(contact: Contact, before: datetime, most: int, zone: ZoneInfo) -> list[TimelineEntry]:
    """Give the seats and places that were given back or removed: the activity log alone knows them."""
    workspace = contact.workspace
    rows = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid, target_id=str(contact.uuid), at__lt=before)
    names = ActivityNames(workspace)
    return [
        TimelineEntry(
            at=entry.at,
            icon="calendar",
            title=f"{action_label(entry.action)}: {entry.target_name}",
            text=format_day_time(datetime.fromisoformat(entry.details["starts_at"]).astimezone(zone), "yMMMEd"),
            state=names.of_actor(entry),
            url=reverse(CLASS_PAGE, args=[entry.details["class"]]),
        )
        for entry in rows.filter(action__in=TIMELINE_ACTIONS).select_related("agency").order_by("-id")[:most]
    ]


# Today's classes on the home page ------------------------------------------------------------------


def _today(workspace: Workspace, now: datetime, most: int) -> HomeContent:
    first, last = today_of(workspace, now)
    held = ClassSession.objects.of(workspace).filter(status=ClassSession.Status.SCHEDULED, ends_at__gt=now)
    rows = []
    for one in held.filter(starts_at__gte=first, starts_at__lt=last).with_names().by_start()[:most]:
        seats = _("%(taken)s of %(seats)s seats taken") % {"taken": one.participants_count, "seats": one.capacity}
        url = reverse("app:class", args=[one.uuid])
        rows.append(HomeRow(title=one.service.name, detail=seats, at=one.starts_at, url=url))
    return HomeContent(rows=rows)


TODAY: Final = HomeSection(
    name="classes",
    label=gettext_lazy("Today's classes"),
    order=30,
    url_name="app:classes",
    content=_today,
    is_today=True,
)
