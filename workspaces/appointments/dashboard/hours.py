"""Pages about when a staff member takes appointments: working hours with exceptions, and time off."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.forms.boundfield import BoundField
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import LineField, NaiveDateTimeField
from agency.pages.pagination import paginate, with_id
from agency.pages.periods import YEARS
from config.wall_clock import instant_of
from workspaces.appointments.models import TimeOff
from workspaces.appointments.models.hours import LONGEST_REASON
from workspaces.appointments.services.hours import (
    MOST_EXCEPTIONS,
    HoursOfDate,
    StaffHours,
    TimeOffNotFound,
    add_time_off,
    hours_of,
    remove_time_off,
    set_working_hours,
)
from workspaces.catalogue.dashboard.staff import STAFF_LIST, STAFF_PAGE, StaffDetail
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.dashboard.hours import DAY_LABELS, HoursField, HoursForm, show_rows
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.pages.business import ZONE_REFUSED, ZoneSelect, timezone_choices

HOURS: Final = "app:staff-hours"
TIME_OFF: Final = "app:staff-time-off"
BLANK_ROWS: Final = 3
WEEKLY: Final = "weekly_"


class StaffPages(StaffDetail):
    """A page of one staff member beside their name and e-mail."""

    @cached_property
    def crumbs(self) -> list[tuple[str, str]]:
        own = reverse(STAFF_PAGE, args=[self.staff.uuid])
        return [(_("Staff"), reverse(STAFF_LIST)), (self.staff.name, own)]


class WorkingHoursForm(forms.Form):
    """Own weekly hours or those of the business, and the hours of single dates.

    Each exception is a row with a date and its hours. An empty row is no exception.
    """

    follows_business = forms.BooleanField(label=gettext_lazy("Works at the opening hours"), required=False)
    timezone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        choices=timezone_choices,
        widget=ZoneSelect,
        error_messages={"invalid_choice": ZONE_REFUSED},
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, hours: StaffHours, today: date) -> None:
        self._kept = [one for one in hours.exceptions if one.date < today]
        coming = [one for one in hours.exceptions if one.date >= today]
        super().__init__(data, initial=_shown(hours, coming))
        for day in DAYS:
            self.fields[f"{WEEKLY}{day}"] = HoursField(label=DAY_LABELS[day], required=False)
        self._rows = len(coming) + BLANK_ROWS if data is None else _rows_in(data)
        for number in range(self._rows):
            self.fields[f"exception_{number}_date"] = forms.DateField(
                label=_("Date"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
            )
            self.fields[f"exception_{number}_hours"] = HoursField(label=_("Hours"), required=False)
        show_rows(self, (f"{WEEKLY}{day}" for day in DAYS))
        show_rows(self, (f"exception_{number}_hours" for number in range(self._rows)))

    def day_fields(self) -> Iterator[BoundField]:
        return (self[f"{WEEKLY}{day}"] for day in DAYS)

    def exception_rows(self) -> Iterator[tuple[BoundField, BoundField]]:
        for number in range(self._rows):
            yield self[f"exception_{number}_date"], self[f"exception_{number}_hours"]

    def clean(self) -> dict[str, object]:
        self.weekly = {day: self.cleaned_data.get(f"{WEEKLY}{day}", []) for day in DAYS}
        self.exceptions = {one.date: one.intervals for one in self._kept}
        for number in range(self._rows):
            self._read_exception(number)
        return self.cleaned_data

    def _read_exception(self, number: int) -> None:
        name = f"exception_{number}_date"
        day = self.cleaned_data.get(name)
        intervals = self.cleaned_data.get(f"exception_{number}_hours", [])
        if day is None:
            if intervals and name not in self.errors:
                self.add_error(name, _("Enter the date for these hours."))
        elif day.year not in YEARS:
            self.add_error(name, _("Enter a date of this century."))
        elif day in self.exceptions:
            self.add_error(name, _("This date is here twice."))
        else:
            self.exceptions[day] = intervals


def _rows_in(data: Mapping[str, object]) -> int:
    """Count the rows of exceptions that were sent, as far as there may be any."""
    known = (f"exception_{number}_date" in data for number in range(MOST_EXCEPTIONS + BLANK_ROWS))
    return sum(known)


def _shown(hours: StaffHours, coming: list[HoursOfDate]) -> dict[str, object]:
    shown: dict[str, object] = {"timezone": hours.timezone, "follows_business": hours.follows_business}
    shown |= {f"{WEEKLY}{day}": intervals for day, intervals in hours.weekly.items()}
    for number, one in enumerate(coming):
        shown |= {f"exception_{number}_date": one.date, f"exception_{number}_hours": one.intervals}
    return shown


class StaffHoursPage(StaffPages, HoursForm[WorkingHoursForm]):
    """Changes working hours. With `copy` in the address the form shows the opening hours, not saved yet."""

    form_page = HOURS
    hours_prefix = WEEKLY
    template_name = "appointments/staff/hours.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> WorkingHoursForm:
        hours = hours_of(self.staff)
        if "copy" in self.request.GET:
            hours = _copied(self.workspace, hours)
        return WorkingHoursForm(data, hours=hours, today=self._today)

    @property
    def _today(self) -> date:
        return timezone.now().astimezone(ZoneInfo(self.workspace.timezone)).date()

    def save(self, form: WorkingHoursForm) -> HttpResponse:
        set_working_hours(
            staff=self.staff,
            timezone=form.cleaned_data["timezone"],
            weekly=None if form.cleaned_data["follows_business"] else form.weekly,
            exceptions=form.exceptions,
            now=timezone.now(),
            by=self.by,
        )
        return self.done(_("The working hours were saved."), HOURS, self.staff.uuid)

    def context(self) -> dict[str, object]:
        return {"staff": self.staff, "crumbs": self.crumbs, "is_copied": "copy" in self.request.GET}


def _copied(workspace: Workspace, hours: StaffHours) -> StaffHours:
    return StaffHours(workspace.timezone, workspace.weekly_hours, hours.exceptions, follows_business=False)


class TimeOffForm(forms.Form):
    """A time in which a staff member takes no appointments, by the workspace's clock."""

    starts_at = NaiveDateTimeField(label=gettext_lazy("Starts"))
    ends_at = NaiveDateTimeField(label=gettext_lazy("Ends"))
    reason = LineField(label=gettext_lazy("Reason"), required=False, max_length=LONGEST_REASON)

    def __init__(self, data: Mapping[str, object] | None = None, *, zone: str) -> None:
        super().__init__(data)
        self._zone = zone
        self.fields["starts_at"].help_text = _("Time zone: %(zone)s.") % {"zone": zone}

    def values(self) -> dict[str, Any]:
        """Give the values for the service."""
        moments = {
            name: instant_of(self.cleaned_data[name].replace(tzinfo=None), self._zone)
            for name in ("starts_at", "ends_at")
        }
        return {**moments, "reason": self.cleaned_data["reason"]}


class StaffTimeOff(StaffPages, DashboardForm[TimeOffForm]):
    """Lists the times off that are not over, and adds one."""

    form_page = TIME_OFF
    creates = True
    template_name = "appointments/staff/time_off.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> TimeOffForm:
        return TimeOffForm(data, zone=self.workspace.timezone)

    def save(self, form: TimeOffForm) -> HttpResponse:
        add_time_off(staff=self.staff, now=timezone.now(), by=self.by, **form.values())
        return self.done(_("The time off was added."), TIME_OFF, self.staff.uuid)

    def context(self) -> dict[str, object]:
        coming = TimeOff.objects.filter(staff=self.staff, ends_at__gt=timezone.now()).order_by("ends_at", "id")
        rows, pages = paginate(self.request, coming)
        zone = ZoneInfo(self.workspace.timezone)
        return {"staff": self.staff, "crumbs": self.crumbs, "rows": rows, "pages": pages, "zone": zone}


class StaffTimeOffRemove(StaffPages):
    form_page = TIME_OFF

    def post(self, request: HttpRequest, uuid: UUID | None, time_off: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        found = with_id(TimeOff.objects.filter(staff=self.staff), time_off)
        if found is None:
            raise TimeOffNotFound
        found.staff = self.staff
        remove_time_off(time_off=found, by=self.by)
        return self.done(_("The time off was removed."), TIME_OFF, self.staff.uuid)
