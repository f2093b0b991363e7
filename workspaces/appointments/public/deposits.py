"""The page of a visitor who pays a deposit: what is to be paid, and what became of the time."""

from datetime import timedelta
from typing import Final, Unpack
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from agency.pages.branding import in_page_language
from config.errors import DomainError
from workspaces.appointments.models import Hold, VisitorBooking
from workspaces.appointments.public.base import PageIds, WorkspacePage
from workspaces.appointments.services.deposits import invoice_of
from workspaces.appointments.services.mails import time_in_words
from workspaces.appointments.services.visitors import kept_booking
from workspaces.finance.models import Invoice
from workspaces.finance.public import CLICKS
from workspaces.finance.services.accounts import PaymentsUnavailable
from workspaces.finance.services.checkouts import start_checkout
from workspaces.subaccounts.services.money import format_money

SEE_OTHER: Final = 303
# The payment page must still have time.
LEAST_LEFT: Final = timedelta(minutes=2)
LOOKS_AGAIN_SECONDS: Final = 3


def address_of_deposit(page: WorkspacePage, booking: VisitorBooking) -> str:
    return reverse("book:deposit", args=[page.booking_page.slug, booking.uuid])


def pay_deposit(page: WorkspacePage, booking: VisitorBooking, invoice: Invoice) -> HttpResponse:
    """Send the visitor to the provider's payment page.

    Raises `PaymentsUnavailable`, `NothingToPay` and `CheckoutBeingPaid`.
    """
    path = address_of_deposit(page, booking)
    with CLICKS.slot() as is_free:
        if not is_free:
            raise PaymentsUnavailable
        checkout = start_checkout(invoice=invoice, now=page.now, success_path=f"{path}?paid=1", cancel_path=path)
    response = redirect(checkout.address)
    response.status_code = SEE_OTHER
    return response


class Deposit(WorkspacePage):
    """Shows what is to be paid until when, then that the time is booked or that the money goes back.

    What was paid is known from the provider alone: the page believes no address.
    """

    booking: VisitorBooking
    hold: Hold
    invoice: Invoice | None

    def find(self, **ids: Unpack[PageIds]) -> None:
        super().find(**ids)
        booking = kept_booking(self.workspace, ids["booking"])
        if booking is None or booking.hold is None:
            raise Http404
        self.booking, self.hold, self.invoice = booking, booking.hold, invoice_of(booking.hold)
        self.zone = booking.timezone

    def get(self, request: HttpRequest, slug: str, booking: UUID | None) -> HttpResponse:
        if self.hold.appointment is not None:
            return redirect(f"{reverse('book:manage', args=[self.hold.appointment.token])}?booked=1")
        return self._show()

    def post(self, request: HttpRequest, slug: str, booking: UUID | None) -> HttpResponse:
        if self.invoice is None or self.state != "open":
            return self._show(status=409)
        try:
            return pay_deposit(self, self.booking, self.invoice)
        except DomainError as refusal:
            status = 503 if isinstance(refusal, PaymentsUnavailable) else 409
            return self._show(status=status, message=in_page_language(refusal.message))

    @property
    def state(self) -> str:
        """What the page is about: `refunded`, `paid`, `waiting` for the provider's word, `open` or `ended`."""
        if self.hold.refunded_at is not None:
            return "refunded"
        if self.invoice is None:  # nobody has paid it in time
            return "ended"
        if self.invoice.status == Invoice.Status.PAID:
            return "paid"
        if not self.invoice.takes_checkouts:
            return "ended"
        if self.request.GET.get("paid"):
            return "waiting"
        is_held = self.hold.ended_at is None and self.hold.expires_at > self.now + LEAST_LEFT
        return "open" if is_held else "ended"

    def _show(self, *, status: int = 200, message: str = "") -> HttpResponse:
        state = self.state
        response = self.page(
            "appointments/public/deposit.html",
            status=status,
            state=state,
            message=message,
            booking=self.booking,
            hold=self.hold,
            when=time_in_words(self.hold.starts_at, self.hold.ends_at, self.zone),
            amount=format_money(max(0, self.invoice.balance), self.invoice.currency) if self.invoice else "",
            invoice_url=self.invoice.pay_url if self.invoice else None,
        )
        if state in ("paid", "waiting"):
            response.headers["Refresh"] = str(LOOKS_AGAIN_SECONDS)
        return response
