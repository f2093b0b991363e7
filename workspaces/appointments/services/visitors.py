"""Bookings by visitors of a booking page: the code that shows whose the e-mail address is, the contact, the time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.crypto import constant_time_compare

from agency.actors import Actor
from agency.models import Mail
from config.errors import Conflict, Forbidden
from config.retention import ExpiredRows
from workspaces.appointments.models import Appointment, BookingPage, ClassBooking, Hold, VisitorBooking
from workspaces.appointments.models.appointments import LONGEST_NOTE
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.mails import code_of, queue_about, queue_code
from workspaces.appointments.services.moves import cancel_appointment, reschedule_appointment
from workspaces.catalogue.models import Service, ServiceStaff, Staff
from workspaces.classes.models import ClassSession
from workspaces.classes.services.sessions import open_classes
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import email_key
from workspaces.contacts.services import EmailTaken, PhoneTaken, create_contact, update_contact
from workspaces.contacts.services.contacts import lock_contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import LimitReached

CODE_LASTS: Final = timedelta(minutes=10)
MOST_TRIES: Final = 5
# Somebody whose time was taken meanwhile may choose another for so long without a new code.
VERIFIED_FOR: Final = timedelta(minutes=30)
# Longer than anybody takes to pay a deposit.
KEPT: Final = timedelta(days=3)
# At most this many codes are sent to one address, also if several people ask.
MOST_CODES: Final = 5
CODES_WITHIN: Final = timedelta(minutes=15)
MOST_OPEN: Final = 10


class TooManyCodes(Forbidden):
    message = "This address was sent several codes already. Try again in a quarter of an hour."


class WrongCode(Conflict):
    message = "This is not the code. Look at the latest e-mail."


class CodeEnded(Conflict):
    message = "This code no longer works. Ask for a new one."


class TooManyBookings(Conflict):
    message = "There are already many bookings with this address. Cancel one of them first."


class BookingRefused(Conflict):
    message = "This cannot be booked online now. Please contact the business."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a visitor wants to book. `staff` is None for anybody who is free.

    With `class_session` it is a seat in this class; with `waits` a place on its waiting list if it is full.
    """

    service: Service
    staff: Staff | None
    starts_at: datetime
    timezone: str
    language: str
    name: str
    email: str
    phone: str
    note: str
    class_session: ClassSession | None = None
    waits: bool = False


@transaction.atomic
def ask_for_booking(*, workspace: Workspace, slug: str, wish: Wish, now: datetime) -> VisitorBooking:
    """Keep what a visitor has typed, and send a code to the e-mail address. No time is taken yet.

    Raises `TooManyCodes`.
    """
    asked = VisitorBooking.objects.filter(email=wish.email, created_at__gt=now - CODES_WITHIN)
    if asked[:MOST_CODES].count() >= MOST_CODES:
        raise TooManyCodes
    booking = VisitorBooking(workspace=workspace, created_at=now, expires_at=now + CODE_LASTS)
    _write(booking, wish)
    booking.save(force_insert=True)
    queue_code(booking, slug=slug)
    return booking


def _write(booking: VisitorBooking, wish: Wish) -> None:
    booking.service, booking.staff, booking.starts_at = wish.service, wish.staff, wish.starts_at
    booking.timezone, booking.language = wish.timezone, wish.language
    booking.name, booking.email, booking.phone, booking.note = wish.name, wish.email, wish.phone, wish.note
    booking.class_session, booking.waits = wish.class_session, wish.waits


def check_code(*, booking: VisitorBooking, code: str, now: datetime) -> None:
    """Accept the code, or count a wrong one. The try is counted before the code is compared.

    Raises `WrongCode`, and `CodeEnded` after five tries or ten minutes.
    """
    rows = VisitorBooking.objects.filter(pk=booking.pk)
    if not rows.filter(tries__lt=MOST_TRIES, expires_at__gt=now).update(tries=F("tries") + 1):
        raise CodeEnded
    if not constant_time_compare(code, code_of(booking.uuid)):
        raise WrongCode
    rows.filter(verified_at=None).update(verified_at=now)


def is_verified(booking: VisitorBooking, *, now: datetime) -> bool:
    """Return whether the visitor has typed the code lately, and has booked nothing with it yet."""
    is_used = any((booking.appointment_id, booking.hold_id, booking.class_booking_id))
    return not is_used and booking.verified_at is not None and now - booking.verified_at < VERIFIED_FOR


@transaction.atomic
def change_wish(*, booking: VisitorBooking, wish: Wish, now: datetime) -> VisitorBooking | None:
    """Change what a verified visitor wants, such as the time; None if that takes a new code."""
    locked = lock_booking(booking)
    if not is_verified(locked, now=now) or locked.email != wish.email:
        return None
    _write(locked, wish)
    locked.save()
    return locked


def lock_booking(booking: VisitorBooking) -> VisitorBooking:
    """Lock a visitor's booking, so that two clicks book once."""
    rows = VisitorBooking.objects.select_related("workspace__agency", "service", "staff", "class_session__staff")
    return rows.select_for_update(of=("self",)).get(pk=booking.pk)


@transaction.atomic
def book_visit(*, booking: VisitorBooking, now: datetime, by: Actor) -> Appointment:
    """Book what a verified visitor wants, and send the confirmation. A second call returns the same appointment.

    Raises `TimeTaken`, `CodeEnded`, `TooManyBookings` and `BookingRefused`.
    """
    locked = lock_booking(booking)
    if locked.appointment is not None:
        return locked.appointment
    if not is_verified(locked, now=now):
        raise CodeEnded
    contact = contact_of_visitor(locked, now=now)
    appointment = book_appointment(
        workspace=locked.workspace,
        service=locked.service,
        contact=contact,
        starts_at=locked.starts_at,
        now=now,
        by=by,
        source=Appointment.Source.BOOKING_PAGE,
        staff=locked.staff,
        timezone=locked.timezone,
        note=note_of(locked, contact),
    )
    record_visit(locked, appointment)
    return appointment


def record_visit(booking: VisitorBooking, appointment: Appointment) -> None:
    """Join a visitor's booking with its appointment, and send the confirmation in the visitor's language."""
    appointment.language = booking.language
    appointment.save(update_fields=["language"])
    booking.appointment = appointment
    booking.save(update_fields=["appointment"])
    queue_about(appointment, Mail.Kind.APPOINTMENT_BOOKED)


def note_of(booking: VisitorBooking, contact: Contact) -> str:
    """Return the visitor's note, with the phone number above it if the contact has another one."""
    is_known = not booking.phone or booking.phone == contact.phone
    return booking.note if is_known else f"{booking.phone}\n{booking.note}".strip()[:LONGEST_NOTE]


def contact_of_visitor(booking: VisitorBooking, *, now: datetime) -> Contact:
    """Return the contact with the visitor's e-mail address, locked; a new one if there is none.

    What the contact has decided about messages stays. A phone number counts for a new contact only, because nobody has
    checked it. Raises `TooManyBookings` and `BookingRefused`.
    """
    contact = _find(booking) or _create(booking, now)
    contact = lock_contact(contact)
    if not contact.name:
        contact = update_contact(contact=contact, now=now, name=booking.name)
    open_ones = Appointment.objects.filter(contact=contact, starts_at__gt=now, status__in=["booked", "confirmed"])
    held = Hold.objects.filter(contact=contact, ended_at=None, expires_at__gt=now)
    seats = ClassBooking.objects.ahead(contact, now)
    if sum(rows[:MOST_OPEN].count() for rows in (open_ones, held, seats)) >= MOST_OPEN:
        raise TooManyBookings
    return contact


def _find(booking: VisitorBooking) -> Contact | None:
    return Contact.objects.of(booking.workspace).filter(email_key=email_key(booking.email)).first()


def _create(booking: VisitorBooking, now: datetime) -> Contact:
    """Create the contact. A phone number that another contact has is not taken over."""
    try:
        return _create_with(booking, booking.phone or None, now)
    except PhoneTaken:
        return _create_with(booking, None, now)
    except LimitReached as error:
        raise BookingRefused from error


def _create_with(booking: VisitorBooking, phone: str | None, now: datetime) -> Contact:
    try:
        return create_contact(
            workspace=booking.workspace,
            now=now,
            name=booking.name,
            email=booking.email,
            phone=phone,
            timezone=booking.timezone,
        )
    except EmailTaken:
        found = _find(booking)
        if found is None:
            raise
        return found


def bookable_services(workspace: Workspace) -> "QuerySet[Service]":
    """Return the services that visitors can book: appointments with a length, and with staff who provide them."""
    provided = ServiceStaff.objects.filter(service=OuterRef("pk"), staff__deleted_at=None)
    rows = Service.objects.of(workspace).filter(
        Exists(provided), kind=Service.Kind.APPOINTMENT, bookable=True, duration_minutes__gt=0
    )
    return rows.by_name()


def class_services(page: BookingPage, *, now: datetime) -> "QuerySet[Service]":
    """Return the classes that the page offers: services with classes that have not begun."""
    rows = Service.objects.of(page.workspace).filter(kind=Service.Kind.CLASS).by_name()
    coming = open_classes(workspace=page.workspace, now=now).order_by().filter(service=OuterRef("pk"))
    return rows.filter(Exists(coming)) if page.offers_classes else rows.none()


def offered_services(page: BookingPage, *, now: datetime) -> "QuerySet[Service]":
    """Return everything that the page offers."""
    offers = (bookable_services(page.workspace), class_services(page, now=now))
    either = Q(pk__in=offers[0].order_by().values("pk")) | Q(pk__in=offers[1].order_by().values("pk"))
    return Service.objects.of(page.workspace).filter(either).by_name()


def open_page(slug: str) -> BookingPage | None:
    """Return the page with this address, while it is on and neither workspace nor agency is suspended."""
    rows = BookingPage.objects.select_related("workspace__agency").filter(slug=slug, enabled=True)
    page = rows.first()
    is_open = page is not None and page.workspace.is_active and page.workspace.agency.is_active
    return page if is_open else None


def kept_booking(workspace: Workspace, uuid: UUID | None) -> VisitorBooking | None:
    """Return what a visitor has typed on the booking page of this workspace."""
    if uuid is None:
        return None
    names = ("workspace__agency", "service", "staff", "appointment", "hold", "class_session__staff", "class_booking")
    rows = VisitorBooking.objects.select_related(*names)
    return rows.filter(uuid=uuid, workspace=workspace).first()


class TooLateToChange(Conflict):
    message = "It is too late to change this online. Please contact the business."


def may_change_visit(appointment: Appointment, *, now: datetime) -> bool:
    """Return whether the visitor may still move or cancel: until the business's notice before the appointment."""
    return appointment.is_open and now < appointment.starts_at - notice_of(appointment.workspace)


def notice_of(workspace: Workspace) -> timedelta:
    """Return how long before it begins a visitor may still change a booking."""
    page = BookingPage.objects.filter(workspace=workspace).first()
    return page.notice if page else timedelta(0)


def move_visit(*, appointment: Appointment, starts_at: datetime, now: datetime, by: Actor) -> Appointment:
    """Move a visitor's appointment to another time of the same person.

    Raises `TooLateToChange` and `TimeTaken`, or the conflict of its status.
    """
    if not may_change_visit(appointment, now=now):
        raise TooLateToChange
    return reschedule_appointment(appointment=appointment, starts_at=starts_at, now=now, by=by)


def cancel_visit(*, appointment: Appointment, now: datetime, by: Actor) -> Appointment:
    """Cancel a visitor's appointment. Raises `TooLateToChange`, or the conflict of its status."""
    if not may_change_visit(appointment, now=now):
        raise TooLateToChange
    return cancel_appointment(appointment=appointment, now=now, by=by)


RETENTION_RULES: Final = (ExpiredRows("appointments_visitorbooking", "created_at", KEPT).rule("visitor_bookings"),)
