"""Pages on which an appointment is made or rescheduled: both let people choose from a week of free times."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model, Q
from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import MultilineField
from agency.pages.pagination import with_id
from agency.pages.periods import read_day
from config.api.requests import is_storable, parse_uuid
from config.db import like_pattern, name_key
from config.wall_clock import instant_of
from workspaces.appointments.dashboard.appointments import LIST, ONE, AppointmentDetail
from workspaces.appointments.dashboard.calendar import MOST_CHOICES
from workspaces.appointments.dashboard.calendar_layout import Day
from workspaces.appointments.models import Appointment
from workspaces.appointments.models.appointments import LONGEST_NOTE
from workspaces.appointments.services.availability import FreeTime, free_times
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.moves import reschedule_appointment
from workspaces.catalogue.models import Service, Staff, StaffQuerySet
from workspaces.contacts.models import Contact
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import Workspace

WEEK: Final = timedelta(days=7)
# If a week has no free time, so many days are searched for the first one: `free_times` takes no more at once.
SEARCHED: Final = timedelta(days=31)
LONGEST_MOMENT: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeWeek:
    """Seven days with their free times, by the workspace's clock.

    `first_free` is the day of the first free time after a week without any.
    """

    zone: ZoneInfo
    first: date
    days: Mapping[date, list[datetime]]
    chosen: datetime | None = None
    has_earlier: bool = False
    first_free: date | None = None

    @classmethod
    def read(
        cls,
        *,
        workspace: Workspace,
        service: Service,
        staff: Staff | None,
        now: datetime,
        day: date | None,
        chosen: datetime | None = None,
        ignoring: Appointment | None = None,
    ) -> "FreeWeek":
        zone = ZoneInfo(workspace.timezone)
        today = now.astimezone(zone).date()
        first = max(day or today, today)
        begins, ends = Day.of(first, zone).begins, Day.of(first + WEEK, zone).begins

        def found(begins: datetime, ends: datetime) -> list[FreeTime]:
            return free_times(
                workspace=workspace, service=service, first=begins, last=ends, now=now, staff=staff, ignoring=ignoring
            )

        days: dict[date, list[datetime]] = defaultdict(list)
        for one in found(begins, ends):
            days[one.starts_at.astimezone(zone).date()].append(one.starts_at)
        later = [] if days else found(ends, Day.of(first + SEARCHED, zone).begins)
        return cls(
            zone=zone,
            first=first,
            days=dict(days),
            chosen=chosen,
            has_earlier=first > today,
            first_free=later[0].starts_at.astimezone(zone).date() if later else None,
        )

    @property
    def last(self) -> date:
        return self.first + WEEK - timedelta(days=1)

    @property
    def earlier(self) -> date:
        return self.first - WEEK

    @property
    def later(self) -> date:
        return self.first + WEEK

    @property
    def has_chosen(self) -> bool:
        """Say whether the chosen time is free, or none is chosen."""
        return self.chosen is None or any(self.chosen in times for times in self.days.values())

    def choices(self) -> Iterator[tuple[date, list[tuple[str, datetime, bool]]]]:
        """Yield each day with its times: the value that the form sends, the moment, and whether it is chosen."""
        for day, times in self.days.items():
            yield day, [(one.isoformat(), one, one == self.chosen) for one in times]


class MomentField(forms.Field):
    """A moment as the page's choices send it: ISO 8601 with an offset."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"label": gettext_lazy("Time"), **options})

    def to_python(self, value: str | None) -> datetime | None:
        if not value:
            return None
        try:
            moment = parse_datetime(value) if len(value) <= LONGEST_MOMENT else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise ValidationError(gettext_lazy("Choose a time from the list."), code="invalid")
        return moment


def read_wall_clock(text: str, workspace: Workspace) -> datetime | None:
    """Read a time such as `2026-12-01T09:30` by the workspace's clock; None if it is none of a known year."""
    try:
        wall = datetime.strptime(text, "%Y-%m-%dT%H:%M")  # noqa: DTZ007  # a wall clock
    except ValueError:
        return None
    return instant_of(wall, workspace.timezone) if wall.year in range(2000, 2200) else None


def with_day(query: QueryDict, day: date) -> str:
    """Give a page's query with another first day, without a time that was chosen before."""
    changed = query.copy()
    changed.pop("at", None)
    changed.pop("form", None)
    changed["from"] = day.isoformat()
    return f"?{changed.urlencode()}"


if TYPE_CHECKING:
    _ChoiceOfRow = forms.ModelChoiceField[Model]
else:
    _ChoiceOfRow = forms.ModelChoiceField

MOST_FOUND: Final = 10


class StaffAndTimeForm(forms.Form):
    """A time from the list, and with whom. Without a staff member anybody who is free takes the appointment."""

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields |= {
            "staff": _ChoiceOfRow(
                Staff.objects.of(workspace),
                label=gettext_lazy("Staff"),
                to_field_name="uuid",
                required=False,
                widget=forms.HiddenInput,
            ),
            "starts_at": MomentField(),
        }


class AppointmentForm(StaffAndTimeForm):
    """A new appointment. The page asks for contact, service and staff before it shows times."""

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        super().__init__(*args, workspace=workspace, **options)
        services = Service.objects.of(workspace).filter(kind=Service.Kind.APPOINTMENT)
        self.fields |= {
            "contact": _ChoiceOfRow(
                Contact.objects.of(workspace),
                label=gettext_lazy("Contact"),
                to_field_name="uuid",
                widget=forms.HiddenInput,
            ),
            "service": _ChoiceOfRow(
                services, label=gettext_lazy("Service"), to_field_name="uuid", widget=forms.HiddenInput
            ),
            "note": MultilineField(
                label=gettext_lazy("Note"), required=False, max_length=LONGEST_NOTE, widget=forms.Textarea({"rows": 2})
            ),
        }


class AppointmentNew(DashboardForm[AppointmentForm]):
    """Asks for a contact, then for a service and staff, then for a free time. The address keeps the answers."""

    nav = "app:calendar"
    creates = True
    template_name = "appointments/new.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> AppointmentForm:
        return AppointmentForm(data, workspace=self.workspace)

    def save(self, form: AppointmentForm) -> HttpResponse:
        made = book_appointment(
            workspace=self.workspace,
            now=timezone.now(),
            by=self.by,
            source=Appointment.Source.DASHBOARD,
            **form.cleaned_data,
        )
        return self.done(_("%(name)s has an appointment.") % {"name": made.contact}, ONE, made.uuid)

    def context(self) -> dict[str, object]:
        asked = self.request.GET
        search = asked.get("search", "").strip()
        return {
            "contact": self._contact,
            "service": self._service,
            "staff": self._staff,
            "services": self._services,
            "staff_choices": list(self._providers.by_name()[:MOST_CHOICES]),
            "search": search,
            "found": self._found(search),
            "day": read_day(asked.get("from", "")),
            "kept": {name: asked[name] for name in ("contact", "service", "staff", "at", "from") if asked.get(name)},
            "week": self._week,
            "earlier_url": with_day(asked, self._week.earlier) if self._week else "",
            "later_url": with_day(asked, self._week.later) if self._week else "",
            "first_free_url": with_day(asked, self._week.first_free) if self._week and self._week.first_free else "",
            "contact_new_url": self._contact_new_url(),
        }

    def _contact_new_url(self) -> str:
        """Lead to the form of a new contact, and back here with what was chosen."""
        back = f"{self.request.path}?{self.request.GET.urlencode()}"
        return f"{reverse('app:contact-new')}?{urlencode({'next': back})}"

    def _asked(self, name: str) -> UUID | None:
        """Give the id that the form or the address names."""
        return parse_uuid(self.request.POST.get(name) or self.request.GET.get(name, ""))

    @cached_property
    def _contact(self) -> Contact | None:
        return with_id(Contact.objects.of(self.workspace), self._asked("contact"))

    @cached_property
    def _services(self) -> list[Service]:
        rows = Service.objects.of(self.workspace).filter(kind=Service.Kind.APPOINTMENT)
        return list(rows.by_name()[:MOST_CHOICES])

    @cached_property
    def _service(self) -> Service | None:
        """The chosen service. A workspace with one service has no choice."""
        if len(self._services) == 1:
            return self._services[0]
        rows = Service.objects.of(self.workspace).filter(kind=Service.Kind.APPOINTMENT)
        return with_id(rows, self._asked("service"))

    @property
    def _providers(self) -> StaffQuerySet:
        """The staff who provide the chosen service; everybody before one is chosen."""
        rows = Staff.objects.of(self.workspace)
        return rows.filter(pk__in=self._service.provided_by.values("staff")) if self._service else rows

    @cached_property
    def _staff(self) -> Staff | None:
        """The chosen staff member. Somebody who does not provide the service is not chosen."""
        return with_id(self._providers, self._asked("staff"))

    @cached_property
    def _week(self) -> FreeWeek | None:
        if self._contact is None or self._service is None:
            return None
        asked = self.request.GET
        chosen = read_wall_clock(asked.get("at", ""), self.workspace)
        day = read_day(asked.get("from", "")) or read_day(asked.get("at", "")[:10])
        return FreeWeek.read(
            workspace=self.workspace,
            service=self._service,
            staff=self._staff,
            now=timezone.now(),
            day=day,
            chosen=chosen,
        )

    def _found(self, search: str) -> list[Contact]:
        if not search or not is_storable(search):
            return []
        rows = Contact.objects.of(self.workspace).filter(search_key__like=like_pattern(name_key(search)))
        return list(rows.newest_first()[:MOST_FOUND])


class AppointmentReschedule(AppointmentDetail, DashboardForm[StaffAndTimeForm]):
    template_name = "appointments/reschedule.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> StaffAndTimeForm:
        return StaffAndTimeForm(data, workspace=self.workspace)

    def save(self, form: StaffAndTimeForm) -> HttpResponse:
        moved = reschedule_appointment(
            appointment=self.appointment, now=timezone.now(), by=self.by, **form.cleaned_data
        )
        return self.done(_("The appointment was rescheduled."), ONE, moved.uuid)

    def context(self) -> dict[str, object]:
        asked = self.request.GET
        week = FreeWeek.read(
            workspace=self.workspace,
            service=self.appointment.service,
            staff=self._staff,
            now=timezone.now(),
            day=read_day(asked.get("from", "")) or self._usual_day,
            ignoring=self.appointment,
        )
        return {
            "appointment": self.appointment,
            "staff": self._staff,
            "staff_choices": list(self._providers.by_name()[:MOST_CHOICES]),
            "week": week,
            "day": week.first,
            "earlier_url": with_day(asked, week.earlier),
            "later_url": with_day(asked, week.later),
            "first_free_url": with_day(asked, week.first_free) if week.first_free else "",
            "crumbs": [(_("Appointments"), reverse(LIST)), (self.title, reverse(ONE, args=[self.appointment.uuid]))],
        }

    @property
    def _providers(self) -> StaffQuerySet:
        """The staff who may take the appointment: who provide the service, and who has it now."""
        provided = self.appointment.service.provided_by.values("staff")
        return Staff.objects.of(self.workspace).filter(Q(pk__in=provided) | Q(pk=self.appointment.staff_id))

    @property
    def _usual_day(self) -> date:
        return self.appointment.starts_at.astimezone(self.zone).date()

    @cached_property
    def _staff(self) -> Staff:
        """The staff member whose times are shown: the present one unless the address names another."""
        asked = parse_uuid(self.request.POST.get("staff") or self.request.GET.get("staff", ""))
        return with_id(self._providers, asked) or self.appointment.staff
