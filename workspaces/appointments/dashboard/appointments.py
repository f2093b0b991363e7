"""The list of appointments, the page of one, and its buttons."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.pages.forms import MultilineField
from agency.pages.pagination import with_id
from agency.pages.periods import DAYS_AHEAD, days_ahead
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Choices, Column, Filter, Table, TableState
from config.api.requests import NothingMatches, QueryParameters
from config.formats import format_day_time
from workspaces.appointments.dashboard.calendar import MOST_CHOICES
from workspaces.appointments.dashboard.calendar_entries import LONGEST_APPOINTMENT
from workspaces.appointments.dashboard.calendar_layout import Day
from workspaces.appointments.filters import AppointmentFilterSet
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.booking import AppointmentNotFound
from workspaces.appointments.services.links import manage_url
from workspaces.appointments.services.moves import (
    cancel_appointment,
    complete_appointment,
    confirm_appointment,
    miss_appointment,
)
from workspaces.catalogue.dashboard.forms import Link, ObjectFormView
from workspaces.catalogue.models import Service, Staff
from workspaces.contacts.dashboard.finding import ListByContact
from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.dashboard.home import ActivityNames
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection, today_of

LIST: Final = "app:appointments"
ONE: Final = "app:appointment"
MOST_ENTRIES: Final = 20
LONGEST_REASON: Final = 500
MOST_COMING, MOST_PAST = 3, 2
Status = Appointment.Status
OPEN: Final = (Status.BOOKED, Status.CONFIRMED)


class Appointments(ListByContact):
    """Lists appointments by their start: between two days, or from today on if the filters name no day."""

    nav = "app:calendar"
    table = Table(
        caption=gettext_lazy("Appointments"),
        columns=(
            Column(name="contact", label=gettext_lazy("Contact")),
            Column(name="service", label=gettext_lazy("Service")),
            Column(name="staff", label=gettext_lazy("Staff")),
            Column(name="starts", label=gettext_lazy("Starts"), order=("starts_at", "id")),
            Column(name="status", label=gettext_lazy("Status")),
        ),
        filters=(
            Filter(name="service", label=gettext_lazy("Service"), is_choice=True),
            Filter(name="staff", label=gettext_lazy("Staff"), is_choice=True),
            Filter(name="status", label=gettext_lazy("Status"), is_choice=True, choices=Status.choices),
            DAYS_AHEAD,
            Filter(name="from", label=gettext_lazy("From"), is_date=True),
            Filter(name="to", label=gettext_lazy("Until"), is_date=True),
        ),
        sort="starts",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        zone = ZoneInfo(self.workspace.timezone)
        state = self.read_table(self._choices())
        rows: QuerySet[Appointment] = Appointment.objects.of(self.workspace).with_names()
        try:
            rows = AppointmentFilterSet.apply(QueryParameters.of(request), rows)
        except NothingMatches:
            rows = rows.none()
        state.fetch(self._between_days(rows, state, zone))
        return self.list_page("appointments/appointments.html", state, zone=zone)

    def _choices(self) -> dict[str, Choices]:
        services = Service.objects.of(self.workspace).filter(kind=Service.Kind.APPOINTMENT).by_name()
        staff = Staff.objects.of(self.workspace).by_name()
        return {
            "service": [(str(one.uuid), one.name) for one in services[:MOST_CHOICES]],
            "staff": [(str(one.uuid), one.name) for one in staff[:MOST_CHOICES]],
        }

    def _between_days(
        self, rows: "QuerySet[Appointment]", state: TableState, zone: ZoneInfo
    ) -> "QuerySet[Appointment]":
        """Keep the appointments of the days of the filters. Those of one contact begin with the first one."""
        days = days_ahead(state, timezone.now().astimezone(zone).date(), begins_today=self.contact is None)
        rows = rows.filter(starts_at__gte=Day.of(days.first, zone).begins) if days.first else rows
        return rows.filter(starts_at__lt=Day.of(days.last, zone).ends) if days.last else rows


def appointments_of_contact(contact: Contact) -> Mapping[str, object]:
    """Give the contact's next appointments, and the last ones before them, for the contact's page and the inbox."""
    now = timezone.now()
    rows = Appointment.objects.of(contact.workspace).filter(contact=contact).select_related("service", "staff")
    going_on = rows.filter(starts_at__gt=now - LONGEST_APPOINTMENT, ends_at__gt=now, status__in=OPEN)
    coming = list(going_on.by_start()[:MOST_COMING])
    past = rows.filter(starts_at__lte=now).exclude(pk__in=[one.pk for one in coming]).order_by("-starts_at", "-id")
    return {
        "contact": contact,
        "appointments": [*coming, *past[:MOST_PAST]],
        "zone": ZoneInfo(contact.workspace.timezone),
    }


def appointments_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the appointments that were booked last before a moment, for the contact's timeline."""
    zone = ZoneInfo(contact.workspace.timezone)
    rows = Appointment.objects.of(contact.workspace).filter(contact=contact, created_at__lt=before)
    return [
        TimelineEntry(
            at=one.created_at,
            icon="calendar",
            title=_("Appointment booked: %(service)s") % {"service": one.service.name},
            text=format_day_time(one.starts_at.astimezone(zone), "yMMMEd"),
            state=one.get_status_display(),
            url=reverse(ONE, args=[one.uuid]),
        )
        for one in rows.select_related("service").order_by("-created_at", "-id")[:most]
    ]


class AppointmentDetail(DashboardView):
    """A page about one appointment of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = "app:calendar"
    form_page = ONE
    appointment: Appointment

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Appointment.objects.of(self.workspace).with_names(), ids["uuid"])
        if found is None:
            raise AppointmentNotFound
        found.workspace = self.workspace
        self.appointment = found

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.workspace.timezone)

    @property
    def title(self) -> str:
        """Name the appointment by its service and its time."""
        when = format_day_time(self.appointment.starts_at.astimezone(self.zone), "yMMMEd")
        return f"{self.appointment.service.name}, {when}"


class AppointmentPage(AppointmentDetail):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        appointment, now = self.appointment, timezone.now()
        return self.page(
            "appointments/appointment.html",
            appointment=appointment,
            title=self.title,
            zone=self.zone,
            has_begun=appointment.starts_at <= now,
            manage_url=manage_url(appointment),
            history=self._history(),
        )

    def _history(self) -> list[tuple[ActivityEntry, str]]:
        """Give the newest entries of the activity log about this appointment, each with who made the change."""
        rows = ActivityEntry.objects.filter(
            workspace_uuid=self.workspace.uuid, target_kind="appointment", target_id=str(self.appointment.uuid)
        )
        names = ActivityNames(self.workspace)
        return [(one, names.of_actor(one)) for one in rows.select_related("agency").order_by("-id")[:MOST_ENTRIES]]


class AppointmentMove(AppointmentDetail):
    """A button that moves an appointment to another state."""

    move: ClassVar[Callable[..., Appointment]]
    message: ClassVar[StrOrPromise]

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        type(self).move(appointment=self.appointment, now=timezone.now(), by=self.by)
        return self.done(str(self.message), ONE, self.appointment.uuid)


class AppointmentConfirm(AppointmentMove):
    move = staticmethod(confirm_appointment)
    message = gettext_lazy("The appointment is confirmed.")


class AppointmentComplete(AppointmentMove):
    move = staticmethod(complete_appointment)
    message = gettext_lazy("The appointment is completed.")


class AppointmentMiss(AppointmentMove):
    move = staticmethod(miss_appointment)
    message = gettext_lazy("The appointment is marked as missed.")


class CancellationForm(forms.Form):
    reason = MultilineField(
        label=gettext_lazy("Reason"), required=False, max_length=LONGEST_REASON, widget=forms.Textarea({"rows": 2})
    )


class AppointmentCancel(AppointmentDetail, ObjectFormView[CancellationForm]):
    def heading(self) -> str:
        return _("Cancel this appointment?")

    def submit(self) -> str:
        return _("Cancel the appointment")

    def crumbs(self) -> list[Link]:
        own = reverse(ONE, args=[self.appointment.uuid])
        return [(_("Appointments"), reverse(LIST)), (self.title, own)]

    def make_form(self, data: Mapping[str, object] | None = None) -> CancellationForm:
        return CancellationForm(data)

    def context(self) -> dict[str, object]:
        return {**super().context(), "text": self._text(), "danger": True}

    def _text(self) -> str:
        """Say whose appointment ends, and who is told."""
        contact = self.appointment.contact
        if contact is None or not contact.email:
            return _("The time becomes free. Nobody gets an e-mail, because no address is known.")
        return _("The time becomes free. %(name)s gets an e-mail to %(email)s.") % {
            "name": contact,
            "email": contact.email,
        }

    def save(self, form: CancellationForm) -> HttpResponse:
        cancel_appointment(
            appointment=self.appointment, now=timezone.now(), by=self.by, reason=form.cleaned_data["reason"]
        )
        return self.done(_("The appointment is cancelled."), ONE, self.appointment.uuid)


# Today's appointments on the home page -------------------------------------------------------------


def _today(workspace: Workspace, now: datetime, most: int) -> HomeContent:
    first, last = today_of(workspace, now)
    held = Appointment.objects.of(workspace).filter(status__in=OPEN, ends_at__gt=now)
    rows = [
        HomeRow(
            title=str(one.contact) if one.contact else _("Contact removed"),
            detail=f"{one.service.name} · {one.staff.name}",
            at=one.starts_at,
            url=reverse("app:appointment", args=[one.uuid]),
        )
        for one in held.filter(starts_at__gte=first, starts_at__lt=last).with_names().by_start()[:most]
    ]
    return HomeContent(rows=rows)


TODAY: Final = HomeSection(
    name="appointments",
    label=gettext_lazy("Today's appointments"),
    order=20,
    url_name="app:calendar",
    content=_today,
    is_today=True,
)
