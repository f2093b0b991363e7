"""Deposits of visitors: the time is held while they pay, and becomes an appointment when the invoice is paid.

The invoice is a draft until then. A payment only makes the hold due, because it is recorded under the invoice's lock.
A task then books the time, or pays the money back if somebody else has the time by then, or the contact was removed.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from agency.actors import SYSTEM, Actor
from agency.models import Mail
from config.db import TimeOrExpression
from config.errors import InvalidInput
from workspaces.appointments.models import Appointment, Hold, VisitorBooking
from workspaces.appointments.services.booking import TimeTaken, book_held_time, hold_time
from workspaces.appointments.services.mails import queue_about, queue_refund, time_in_words
from workspaces.appointments.services.visitors import (
    BookingRefused,
    CodeEnded,
    contact_of_visitor,
    is_verified,
    lock_booking,
    note_of,
    record_visit,
)
from workspaces.catalogue.models import Service
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.finance.models import Invoice, Payment
from workspaces.finance.services.accounts import accepts_payments
from workspaces.finance.services.checkouts import CheckoutBeingPaid, CheckoutStillOpen, end_checkouts
from workspaces.finance.services.invoices import (
    InvoiceIsBeingPaid,
    InvoiceIsPaid,
    InvoiceNotDraft,
    LineInput,
    NothingToCredit,
    credit_invoice,
    void_invoice,
)
from workspaces.finance.services.prepayments import create_prepayment, discard_prepayment
from workspaces.finance.services.received_payments import PaymentHandler
from workspaces.finance.services.refunds import refund_payment
from workspaces.subaccounts.models import Workspace

# As long as the provider's payment page.
HELD_FOR: Final = timedelta(minutes=35)
# The provider's page has certainly ended by then.
UNPAID_AFTER: Final = timedelta(minutes=30)
TRIED_AGAIN_AFTER: Final = timedelta(minutes=5)
STILL_PAID_AFTER: Final = timedelta(hours=1)
VISITOR: Final = Actor(kind="customer", id="", label="customer", of_workspace=True)


def needs_deposit(service: Service, workspace: Workspace) -> bool:
    """Return whether a visitor pays in advance: the service asks for it, and the workspace takes payments online."""
    return service.deposit is not None and accepts_payments(workspace)


@transaction.atomic
def hold_visit(*, booking: VisitorBooking, now: datetime, by: Actor) -> VisitorBooking:
    """Hold the time that a verified visitor wants, and draft the invoice of the deposit. A second call changes nothing.

    Raises `TimeTaken`, `CodeEnded`, `TooManyBookings` and `BookingRefused`.
    """
    locked = lock_booking(booking)
    if locked.hold is not None or locked.appointment is not None:
        return locked
    if not is_verified(locked, now=now):
        raise CodeEnded
    contact = contact_of_visitor(locked, now=now)
    hold = hold_time(
        workspace=locked.workspace,
        service=locked.service,
        contact=contact,
        starts_at=locked.starts_at,
        expires_at=now + HELD_FOR,
        now=now,
        staff=locked.staff,
        timezone=locked.timezone,
        note=note_of(locked, contact),
    )
    hold.invoice = _draft_deposit(hold, contact, now, by)
    hold.check_at = hold.expires_at + UNPAID_AFTER
    hold.save(update_fields=["invoice", "check_at"])
    locked.hold = hold
    locked.save(update_fields=["hold"])
    return locked


def _draft_deposit(hold: Hold, contact: Contact, now: datetime, by: Actor) -> UUID:
    try:
        lines = [_line_of(hold)]
        return create_prepayment(workspace=hold.workspace, contact=contact, lines=lines, now=now, by=by).uuid
    except InvalidInput as error:  # the business has set a price or a currency that cannot be invoiced
        raise BookingRefused from error


def _line_of(hold: Hold) -> LineInput:
    with translation.override(hold.workspace.agency.language or None):
        when = time_in_words(hold.starts_at, hold.ends_at, hold.workspace.timezone)
        text = _("Deposit: %(service)s, %(time)s") % {"service": hold.service.name, "time": when}
    return LineInput(description=text, quantity=Decimal(1), unit_price=hold.service.deposit or Decimal(0))


def invoice_of(hold: Hold) -> Invoice | None:
    """Return the invoice of a hold's deposit."""
    if hold.invoice is None:
        return None
    return Invoice.objects.select_related("workspace__agency").filter(uuid=hold.invoice).first()


def deposit_invoice_of(appointment: Appointment) -> Invoice | None:
    """Return the invoice of the deposit with which an appointment was booked; None if there was none."""
    hold = Hold.objects.filter(appointment=appointment).first()
    return invoice_of(hold) if hold else None


# What becomes of a hold ---------------------------------------------------------------------------


def _make_due(payment: Payment, now: datetime) -> None:
    """Have the task look at the hold that a payment is for, if the deposit is paid as a whole, however late."""
    if payment.invoice.status == Invoice.Status.PAID:
        Hold.objects.filter(invoice=payment.invoice.uuid, appointment=None, refunded_at=None).update(check_at=now)


PAYMENT_HANDLER: Final = PaymentHandler("deposits", _make_due)


def due_holds(now: TimeOrExpression) -> "QuerySet[Hold]":
    """Return the holds whose deposit is to be looked at, in their order."""
    return Hold.objects.filter(check_at__lte=now).order_by("check_at")


def settle_next_hold(*, now: datetime) -> bool:
    """Look at the hold that has been due for longest; return False if there is none.

    Its next look is set before, so that one that fails again and again keeps no other waiting.
    """
    with transaction.atomic():
        rows = due_holds(now).select_for_update(of=("self",), skip_locked=True, no_key=True)
        hold = rows.select_related("workspace__agency", "service", "staff", "contact").first()
        if hold is None:
            return False
        hold.check_at = now + TRIED_AGAIN_AFTER
        hold.save(update_fields=["check_at"])
    _settle(hold, now)
    return True


def _settle(hold: Hold, now: datetime) -> None:
    invoice = invoice_of(hold)
    if invoice is None or hold.appointment_id is not None or invoice.status == Invoice.Status.VOID:
        _look_again(hold, None)
    elif invoice.status == Invoice.Status.PAID:
        _book_or_pay_back(hold, invoice, now)
    elif invoice.is_draft:
        _discard(hold, invoice, now)
    else:  # deposits were once issued before they were paid
        _void(hold, invoice, now)


def _look_again(hold: Hold, moment: datetime | None) -> None:
    """Set the next look, unless a payment or a removal has made the hold due meanwhile."""
    Hold.objects.filter(pk=hold.pk, check_at=hold.check_at).update(check_at=moment)


def _book_or_pay_back(hold: Hold, invoice: Invoice, now: datetime) -> None:
    """Book the time. A deadlock looks like a taken time, so only the second refusal counts."""
    for _attempt in range(2):
        try:
            return _book(hold, now)
        except TimeTaken:
            continue
        except ContactNotFound:
            break
    return _pay_back(hold, invoice, now)


@transaction.atomic
def _book(hold: Hold, now: datetime) -> None:
    booking = VisitorBooking.objects.filter(hold=hold).first()
    locked = lock_booking(booking) if booking else None
    appointment = book_held_time(hold=hold, now=now, by=VISITOR, source=Appointment.Source.BOOKING_PAGE)
    if locked is not None:
        record_visit(locked, appointment)
    else:  # what the visitor typed is forgotten by now
        queue_about(appointment, Mail.Kind.APPOINTMENT_BOOKED)
    _look_again(hold, None)


@transaction.atomic
def _pay_back(hold: Hold, invoice: Invoice, now: datetime) -> None:
    """Credit the invoice, pay back what was paid, and tell the visitor."""
    with suppress(NothingToCredit):  # somebody has credited it by hand
        credit_invoice(invoice=invoice, now=now, by=SYSTEM)
    for payment in Payment.objects.filter(invoice=invoice).order_by("id"):
        if payment.left > 0:
            refund_payment(payment=payment, amount=payment.left, now=now, by=SYSTEM, reason=TimeTaken.message)
    booking = VisitorBooking.objects.filter(hold=hold).first()
    queue_refund(hold, booking)
    Hold.objects.filter(pk=hold.pk).update(check_at=None, refunded_at=now)


def _discard(hold: Hold, invoice: Invoice, now: datetime) -> None:
    """Delete the draft of a deposit that nobody has paid in time. For a removed contact the payment page closes first.

    A payment that comes in between makes the hold due again by itself.
    """
    try:
        if hold.contact_id is None:
            end_checkouts(invoice=invoice, now=now)
        discard_prepayment(invoice=invoice, by=SYSTEM)
    except CheckoutStillOpen:
        return  # it is tried again soon
    except (CheckoutBeingPaid, InvoiceIsBeingPaid):
        _look_again(hold, now + STILL_PAID_AFTER)
    except InvoiceNotDraft:
        return  # it was paid
    except InvoiceIsPaid:  # a part was paid, which is for people to sort out
        _look_again(hold, None)
    else:
        _look_again(hold, None)


def _void(hold: Hold, invoice: Invoice, now: datetime) -> None:
    """Cancel the invoice of a deposit that nobody has paid in time."""
    try:
        void_invoice(invoice=invoice, now=now, by=SYSTEM)
    except InvoiceIsBeingPaid:
        _look_again(hold, now + STILL_PAID_AFTER)
    except InvoiceIsPaid:  # a part was paid, which is for people to sort out
        _look_again(hold, None)
    else:
        _look_again(hold, None)
