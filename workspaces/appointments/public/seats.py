"""The page on which a visitor sees a seat in a class or a place on its list, and gives it back by a form."""

from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from agency.pages.branding import in_page_language
from config.api.text_fields import known_zones
from config.errors import DomainError
from workspaces.appointments.models import ClassBooking
from workspaces.appointments.public.base import BookingView
from workspaces.appointments.services.booking_pages import booking_url
from workspaces.appointments.services.calendar_files import CalendarEvent, calendar_file
from workspaces.appointments.services.class_bookings import SeatState, give_back, may_give_back, seat_state
from workspaces.appointments.services.links import class_booking_of_token, seat_url
from workspaces.appointments.services.mails import time_in_words
from workspaces.classes.models import ClassSession

SEAT: Final = "appointments/public/classes/seat.html"


class SeatPage(BookingView):
    """A page about the seat or the place that a secret link names, whether the booking page is on or off."""

    booking: ClassBooking
    state: SeatState

    def find(self, **ids: Any) -> None:
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

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
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
            was = give_back(booking=self.booking, now=self.now)
        except DomainError as refusal:
            return self.page(SEAT, status=409, message=in_page_language(refusal.message))
        done = "?returned=1" if was.has_seat else "?left=1" if was.waits else ""
        return self.to_seat(done)
