"""The page of a staff member's calendars in other programs.

Their events keep the person busy here. They read the person's calendar at its secret address.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import LineField, NameField
from agency.pages.pagination import with_id
from agency.pages.registry import StrOrPromise
from workspaces.appointments.dashboard.hours import StaffPages
from workspaces.appointments.models import ExternalCalendar
from workspaces.appointments.services.calendar_feeds import create_feed, feed_of, feed_url, remove_feed, renew_feed
from workspaces.appointments.services.external_calendars import (
    CalendarNotFound,
    add_calendar,
    calendars_of,
    read_calendar_now,
    remove_calendar,
)
from workspaces.subaccounts.dashboard.base import DashboardForm

CALENDARS: Final = "app:staff-calendars"
LONGEST_ADDRESS: Final = 2_000
NO_CONNECTION: Final = gettext_lazy("The server cannot be reached.")
NO_ANSWER: Final = gettext_lazy("The server did not answer in time.")
ODD_ANSWER: Final = gettext_lazy("The server's answer cannot be understood.")
FAILURES: Final[dict[str, StrOrPromise]] = {
    "dns": gettext_lazy("Server not found. Check the address."),
    "blocked_address": gettext_lazy("This address is not allowed. Enter another one."),
    "refused": NO_CONNECTION,
    "closed": NO_CONNECTION,
    "connect_timeout": NO_ANSWER,
    "timeout": NO_ANSWER,
    "tls": gettext_lazy("The server's certificate is not valid."),
    "http_3xx": gettext_lazy("The address redirects to another one. Enter that address."),
    "http_4xx": gettext_lazy(
        "The server refuses access to the calendar. Check whether the secret address has changed."
    ),
    "http_5xx": gettext_lazy("The server has an error. Try again later."),
    "invalid_answer": ODD_ANSWER,
    "too_large": gettext_lazy("The calendar is larger than 5 MiB."),
    "not_a_calendar": gettext_lazy("The address does not lead to an ICS calendar."),
    "wrong_encoding": ODD_ANSWER,
    "too_many_events": gettext_lazy("The calendar has too many events."),
    "recurrence_refused": gettext_lazy("An event repeats in a way that cannot be read."),
    "too_much_work": gettext_lazy("The calendar is too complicated to be read."),
}
OTHER_FAILURE: Final = gettext_lazy("The calendar could not be read.")


def failure_in_words(code: str) -> StrOrPromise:
    """Say why the last reading failed; empty if it did not."""
    return FAILURES.get(code, OTHER_FAILURE) if code else ""


class ExternalCalendarForm(forms.Form):
    name = NameField()
    address = LineField(
        label=gettext_lazy("ICS address"),
        max_length=LONGEST_ADDRESS,
        widget=forms.URLInput({"autocomplete": "off", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "The secret address in iCal form. Google Calendar, Outlook and iCloud show it in a calendar's settings."
        ),
    )


class StaffCalendars(StaffPages, DashboardForm[ExternalCalendarForm]):
    """Lists the calendars with their last reading, and adds one. An address is secret and not shown again."""

    form_page = CALENDARS
    creates = True
    template_name = "appointments/staff/external_calendars.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ExternalCalendarForm:
        return ExternalCalendarForm(data)

    def save(self, form: ExternalCalendarForm) -> HttpResponse:
        added = add_calendar(staff=self.staff, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was added.") % {"name": added.name}, CALENDARS, self.staff.uuid)

    def context(self) -> dict[str, object]:
        rows = calendars_of(self.workspace).filter(staff=self.staff)
        shown = [(one, failure_in_words(one.failure)) for one in rows]
        return {"staff": self.staff, "crumbs": self.crumbs, "calendars": shown, **self._feed()}

    def _feed(self) -> dict[str, object]:
        """Give the secret address to those who may replace it."""
        feed = feed_of(self.staff) if self.may_write else None
        if feed is None:
            return {"feed": None}
        feed.workspace = self.workspace
        return {"feed": feed, "feed_url": feed_url(feed)}


class StaffCalendarDetail(StaffPages):
    """A button about one calendar of the staff member."""

    form_page = CALENDARS
    calendar: ExternalCalendar

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        found = with_id(calendars_of(self.workspace).filter(staff=self.staff), ids["calendar"])
        if found is None:
            raise CalendarNotFound
        found.staff = self.staff
        self.calendar = found


class StaffCalendarRead(StaffCalendarDetail):
    def post(self, request: HttpRequest, uuid: UUID | None, calendar: UUID | None) -> HttpResponse:
        self.find(uuid=uuid, calendar=calendar)
        read_calendar_now(calendar=self.calendar, now=timezone.now())
        return self.done(_("We will read the calendar in a moment."), CALENDARS, self.staff.uuid)


class StaffCalendarRemove(StaffCalendarDetail):
    def post(self, request: HttpRequest, uuid: UUID | None, calendar: UUID | None) -> HttpResponse:
        self.find(uuid=uuid, calendar=calendar)
        remove_calendar(calendar=self.calendar, by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.calendar.name}, CALENDARS, self.staff.uuid)


class StaffFeedCreate(StaffPages):
    form_page = CALENDARS
    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        create_feed(staff=self.staff, now=timezone.now(), by=self.by)
        return self.done(_("The address was created."), CALENDARS, self.staff.uuid)


class StaffFeedRenew(StaffPages):
    form_page = CALENDARS
    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        renew_feed(staff=self.staff, now=timezone.now(), by=self.by)
        return self.done(_("There is a new address. The old one no longer works."), CALENDARS, self.staff.uuid)


class StaffFeedRemove(StaffPages):
    form_page = CALENDARS

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        remove_feed(staff=self.staff, by=self.by)
        return self.done(_("The address was removed."), CALENDARS, self.staff.uuid)
