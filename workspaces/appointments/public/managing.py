"""Pages on which visitors see and change an appointment or a seat in a class. Only forms change something."""

from datetime import datetime
from typing import Final, Unpack

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from agency.pages.branding import in_page_language
from config.api.text_fields import known_zones
from config.errors import DomainError
from workspaces.appointments.models import Appointment, ClassBooking
from workspaces.appointments.public.base import BookingView, PageIds, instant_as_text, instant_in, query
from workspaces.appointments.public.choosing import ChooseForm
from workspaces.appointments.public.weeks import Choices, week_of
from workspaces.appointments.services.booking import TimeTaken
from workspaces.appointments.services.booking_pages import booking_url
from workspaces.appointments.services.calendar_files import CalendarEvent, calendar_file
from workspaces.appointments.services.class_bookings import SeatState, give_back, may_give_back, seat_state
from workspaces.appointments.services.deposits import deposit_invoice_of
from workspaces.appointments.services.links import appointment_of_token, class_booking_of_token, manage_url, seat_url
from workspaces.appointments.services.mails import time_in_words
from workspaces.appointments.services.visitors import cancel_visit, may_change_visit, move_visit
from workspaces.classes.models import ClassSession


class ManagePage(BookingView):
    """A page about the appointment that a secret link names. It works whether the booking page is on or off."""

    appointment: Appointment

    def find(self, **ids: Unpack[PageIds]) -> None:
        found = appointment_of_token(ids["token"])
        if found is None:
            raise Http404
        self.appointment, self.workspace = found, found.workspace
        chosen = self.request.GET.get("zone", "")
        self.zone = chosen if chosen in known_zones() else found.timezone

    @property
    def choices(self) -> Choices:
        found = self.appointment
        return Choices(self.workspace, found.service, found.staff, self.zone, self.now, moved=found)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        found = self.appointment
        facts = {
            "appointment": found,
            "token": self.kwargs["token"],
            "when": time_in_words(found.starts_at, found.ends_at, self.zone),
            "may_change": may_change_visit(found, now=self.now),
        }
        return super().page(template, status=status, **facts, **context)

    def to_appointment(self, **asked: str) -> HttpResponse:
        address = reverse("book:manage", args=[self.kwargs["token"]])
        return redirect(f"{address}?{query(**asked)}" if asked else address)

    def refuse(self, refusal: DomainError) -> HttpResponse:
        message = in_page_language(refusal.message)
        return self.page("appointments/public/manage.html", status=409, message=message)


class Manage(ManagePage):
    """Shows the appointment, with what the visitor can do about it."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        done = next((name for name in ("booked", "moved", "cancelled") if request.GET.get(name)), "")
        again = "" if self.appointment.is_open else booking_url(self.workspace)
        invoice = deposit_invoice_of(self.appointment)
        return self.page(
            "appointments/public/manage.html",
            done=done,
            book_again=again,
            invoice_url=invoice.pay_url if invoice else None,
        )


class CalendarFile(ManagePage):
    """The appointment as a file for the visitor's calendar."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        event = CalendarEvent.of(self.appointment, address=manage_url(self.appointment))
        is_cancelled = self.appointment.status == Appointment.Status.CANCELLED
        content = calendar_file(event, "CANCEL" if is_cancelled else "PUBLISH")
        headers = {"Content-Disposition": 'attachment; filename="appointment.ics"'}
        return HttpResponse(content, content_type="text/calendar; charset=utf-8", headers=headers)


class MoveTimes(ManagePage):
    """Shows the times to which the appointment can be moved."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        if not may_change_visit(self.appointment, now=self.now):
            return self.to_appointment()
        return self.page(
            "appointments/public/move_times.html",
            week=week_of(self.choices, asked=request.GET.get("week", ""), day=request.GET.get("day", "")),
            form=ChooseForm(staff=[], chosen=None, zone=self.zone),
            carried=query(zone=self.zone),
            is_taken=bool(request.GET.get("taken")),
        )


class Move(ManagePage):
    """Asks before the appointment is moved to the time that the address names."""

    starts_at: datetime

    def find(self, **ids: Unpack[PageIds]) -> None:
        super().find(**ids)
        starts_at = instant_in(self.request.GET.get("at", ""))
        if starts_at is None:
            raise Http404
        self.starts_at = starts_at

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        if not may_change_visit(self.appointment, now=self.now):
            return self.to_appointment()
        free = self.choices.at(self.starts_at)
        if free is None:
            return self._to_times()
        return self.page(
            "appointments/public/move.html",
            new_when=time_in_words(free.starts_at, free.ends_at, self.zone),
            carried=query(zone=self.zone, at=instant_as_text(self.starts_at)),
        )

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        try:
            move_visit(appointment=self.appointment, starts_at=self.starts_at, now=self.now, by=self.by)
        except TimeTaken:
            return self._to_times()
        except DomainError as refusal:
            return self.refuse(refusal)
        return self.to_appointment(moved="1", zone=self.zone)

    def _to_times(self) -> HttpResponse:
        day = self.local(self.starts_at).date().isoformat()
        address = reverse("book:move-times", args=[self.kwargs["token"]])
        return redirect(f"{address}?{query(zone=self.zone, week=day, taken='1')}")


class Cancel(ManagePage):
    """Asks before the appointment is cancelled."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        if not may_change_visit(self.appointment, now=self.now):
            return self.to_appointment()
        return self.page("appointments/public/cancel.html")

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        try:
            cancel_visit(appointment=self.appointment, now=self.now, by=self.by)
        except DomainError as refusal:
            return self.refuse(refusal)
        return self.to_appointment(cancelled="1")


# Seats in classes ----------------------------------------------------------------------------------


SEAT: Final = "appointments/public/classes/seat.html"


class SeatPage(BookingView):
    """A page about the seat or the place that a secret link names, whether the booking page is on or off."""

    booking: ClassBooking
    state: SeatState

    def find(self, **ids: Unpack[PageIds]) -> None:
        found = class_booking_of_token(ids["token"])
        if found is None:
            raise Http404
        self.booking, self.workspace = found, found.session.workspace
        self.state = seat_state(found)
        chosen = self.request.GET.get("zone", "")
        self.zone = chosen if chosen in known_zones() else found.timezone

    @property
    def is_cancelled(self) -> bool:
        return self.booking.session.status == ClassSession.Status.CANCELLED

    @property
    def is_ahead(self) -> bool:
        session = self.booking.session
        return session.status == ClassSession.Status.SCHEDULED and session.starts_at > self.now

    @property
    def may_change(self) -> bool:
        return may_give_back(self.booking, self.state, now=self.now)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        session = self.booking.session
        facts = {
            "booking": self.booking,
            "session": session,
            "state": self.state,
            "is_cancelled": self.is_cancelled,
            "is_ahead": self.is_ahead,
            "token": self.kwargs["token"],
            "when": time_in_words(session.starts_at, session.ends_at, self.zone),
            "may_change": self.may_change,
        }
        return super().page(template, status=status, **facts, **context)

    def to_seat(self, asked: str = "") -> HttpResponse:
        return redirect(reverse("book:seat", args=[self.kwargs["token"]]) + asked)


class Seat(SeatPage):
    """Shows the seat or the place, with what the visitor can do about it."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        done = next((name for name in ("booked", "returned", "left") if request.GET.get(name)), "")
        is_coming = self.is_ahead and (self.state.has_seat or self.state.waits)
        again = "" if is_coming else booking_url(self.workspace)
        return self.page(SEAT, done=done, book_again=again)


class SeatFile(SeatPage):
    """The seat as a file for the visitor's calendar. Who waits has none."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        if self.state.waits:
            raise Http404
        event = CalendarEvent.of_seat(self.booking, address=seat_url(self.booking))
        is_there = self.state.has_seat and not self.is_cancelled
        headers = {"Content-Disposition": 'attachment; filename="class.ics"'}
        content = calendar_file(event, "PUBLISH" if is_there else "CANCEL")
        return HttpResponse(content, content_type="text/calendar; charset=utf-8", headers=headers)


class GiveBack(SeatPage):
    """Asks before a seat or a place on the list is given back."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        if not self.may_change:
            return self.to_seat()
        return self.page("appointments/public/classes/give_back.html")

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        try:
            was = give_back(booking=self.booking, now=self.now, by=self.by)
        except DomainError as refusal:
            return self.page(SEAT, status=409, message=in_page_language(refusal.message))
        done = "?returned=1" if was.has_seat else "?left=1" if was.waits else ""
        return self.to_seat(done)
