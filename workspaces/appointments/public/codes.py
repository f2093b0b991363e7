"""The code that shows whose an e-mail address is, and the booking that follows a right one."""

from datetime import datetime, timedelta
from typing import Unpack
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from agency.pages.forms import LineField
from config.errors import DomainError
from workspaces.appointments.models import VisitorBooking
from workspaces.appointments.public.base import MESSAGE, PageIds, WorkspacePage, instant_as_text, query
from workspaces.appointments.public.deposits import address_of_deposit, pay_deposit
from workspaces.appointments.services.booking import TimeTaken
from workspaces.appointments.services.class_bookings import ClassNotOpen, ClassWasMoved, book_seat
from workspaces.appointments.services.deposits import hold_visit, invoice_of, needs_deposit
from workspaces.appointments.services.mails import CODE_DIGITS, time_in_words
from workspaces.appointments.services.visitors import CodeEnded, WrongCode, book_visit, check_code, kept_booking
from workspaces.classes.services import ClassIsFull
from workspaces.finance.services.accounts import PaymentsUnavailable
from workspaces.finance.services.checkouts import CheckoutBeingPaid, NothingToPay


def times_address(page: WorkspacePage, kept: VisitorBooking | None, *, staff: object, day: datetime) -> str:
    """Return where a visitor chooses another time, on a day and the days after it. What was typed is kept."""
    service = kept.service.uuid if kept else page.kwargs["service"]
    day_there = page.local(day).date().isoformat()
    asked = query(staff=staff, zone=page.zone, week=day_there, taken="1", kept=kept.uuid if kept else "")
    return f"{reverse('book:times', args=[page.kwargs['slug'], service])}?{asked}"


def book_or_explain(page: WorkspacePage, booking: VisitorBooking) -> HttpResponse:
    """Book for a verified visitor, or hold the time and lead to the payment of the deposit.

    A taken time leads back to the times, and another refusal is said on the page.
    """
    if booking.class_session is not None:
        return _book_seat_or_explain(page, booking)
    try:
        if booking.hold is not None or needs_deposit(booking.service, page.workspace):
            return _hold_and_pay(page, booking)
        appointment = book_visit(booking=booking, now=page.now, by=page.by)
    except TimeTaken:
        staff = booking.staff.uuid if booking.staff else ""
        return redirect(times_address(page, booking, staff=staff, day=booking.starts_at))
    except DomainError as refusal:
        return _refuse(page, refusal)
    return redirect(f"{reverse('book:manage', args=[appointment.token])}?booked=1")


def _refuse(page: WorkspacePage, refusal: DomainError) -> HttpResponse:
    message = in_page_language(refusal.message)
    return page.page(MESSAGE, status=409, heading=_("Not booked"), message=message, is_refusal=True)


def _book_seat_or_explain(page: WorkspacePage, booking: VisitorBooking) -> HttpResponse:
    """Book the seat of a verified visitor. A class that is full or moved meanwhile leads back to its page."""
    try:
        made = book_seat(booking=booking, now=page.now)
    except (ClassIsFull, ClassWasMoved):
        return redirect(class_address(page, booking, again="1"))
    except ClassNotOpen:
        return redirect(classes_address(page, booking.service.uuid, kept=booking))
    except DomainError as refusal:
        return _refuse(page, refusal)
    return redirect(f"{reverse('book:seat', args=[made.token])}?booked=1")


def class_address(page: WorkspacePage, booking: VisitorBooking, **more: object) -> str:
    """Return the page on which a visitor books a class, with what was typed."""
    session = booking.class_session.uuid if booking.class_session else ""
    address = reverse("book:class", args=[page.booking_page.slug, booking.service.uuid, session])
    return f"{address}?{query(zone=page.zone, kept=booking.uuid, **more)}"


def classes_address(page: WorkspacePage, service: UUID, *, kept: VisitorBooking | None) -> str:
    """Return where a visitor chooses another class, because the chosen one cannot be booked any more."""
    asked = query(zone=page.zone, kept=kept.uuid if kept else "", gone="1")
    return f"{reverse('book:classes', args=[page.booking_page.slug, service])}?{asked}"


def _hold_and_pay(page: WorkspacePage, booking: VisitorBooking) -> HttpResponse:
    """Hold the time, and send the visitor to the payment. If that is away, the deposit's page offers it again."""
    held = hold_visit(booking=booking, now=page.now, by=page.by)
    invoice = invoice_of(held.hold) if held.hold else None
    try:
        if invoice is not None:
            return pay_deposit(page, held, invoice)
    except (PaymentsUnavailable, NothingToPay, CheckoutBeingPaid):
        pass
    return redirect(address_of_deposit(page, held))


class CodeForm(forms.Form):
    code = LineField(
        label=gettext_lazy("Code"),
        max_length=20,
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def clean_code(self) -> str:
        code = "".join(self.cleaned_data["code"].split())
        if len(code) != CODE_DIGITS or not code.isascii() or not code.isdigit():
            raise ValidationError(_("The code has six digits."))
        return code


class Code(WorkspacePage):
    """Asks for the code from the e-mail. The right one books the time."""

    booking: VisitorBooking

    def find(self, **ids: Unpack[PageIds]) -> None:
        super().find(**ids)
        found = kept_booking(self.workspace, ids["booking"])
        if found is None:
            raise Http404
        self.booking = found
        self.zone = found.timezone

    def get(self, request: HttpRequest, slug: str, booking: UUID | None) -> HttpResponse:
        if self.booking.appointment is not None or self.booking.class_booking is not None:
            message = _("The link to your booking is in your confirmation e-mail.")
            return self.page(MESSAGE, status=410, heading=_("This is booked already"), message=message)
        if self.booking.hold is not None:
            return redirect(address_of_deposit(self, self.booking))
        return self._show(CodeForm())

    def post(self, request: HttpRequest, slug: str, booking: UUID | None) -> HttpResponse:
        form = CodeForm(request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        try:
            check_code(booking=self.booking, code=form.cleaned_data["code"], now=self.now)
        except (WrongCode, CodeEnded) as refusal:
            form.add_error("code", in_page_language(refusal.message))
            return self._show(form, status=422)
        return book_or_explain(self, self.booking)

    def _show(self, form: CodeForm, *, status: int = 200) -> HttpResponse:
        booking, session = self.booking, self.booking.class_session
        length = timedelta(minutes=booking.service.duration_minutes or 0)
        ends_at = session.ends_at if session else booking.starts_at + length
        return self.page(
            "appointments/public/code.html",
            status=status,
            form=form,
            booking=booking,
            staff=session.staff if session else booking.staff,
            when=time_in_words(session.starts_at if session else booking.starts_at, ends_at, booking.timezone),
            back=class_address(self, booking) if session else self._details,
        )

    @property
    def _details(self) -> str:
        booking = self.booking
        staff = booking.staff.uuid if booking.staff else ""
        carried = query(staff=staff, zone=booking.timezone, kept=booking.uuid, at=instant_as_text(booking.starts_at))
        return f"{reverse('book:details', args=[self.booking_page.slug, booking.service.uuid])}?{carried}"
