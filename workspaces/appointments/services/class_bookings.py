"""Seats in classes that visitors book and give back, and the e-mails to people in classes."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import F

from agency.actors import Actor
from agency.models import Mail
from config.errors import Conflict
from config.wall_clock import known_zone
from workspaces.appointments.models import ClassBooking, VisitorBooking
from workspaces.appointments.services.links import new_token
from workspaces.appointments.services.mails import queue_about_class
from workspaces.appointments.services.visitors import (
    CodeEnded,
    TooLateToChange,
    contact_of_visitor,
    is_verified,
    lock_booking,
    notice_of,
)
from workspaces.classes.models import ClassSession, Participant, WaitingListEntry
from workspaces.classes.services import (
    ClassIsFull,
    add_participant,
    join_waiting_list,
    leave_waiting_list,
    remove_participant,
)
from workspaces.classes.services.sessions import ClassChange, ClassChangeHandler, Status, lock_class
from workspaces.contacts.models import Contact

CHANGES: Final = {"moved": Mail.Kind.CLASS_CHANGED, "cancelled": Mail.Kind.CLASS_CANCELLED}


class ClassNotOpen(Conflict):
    message = "This class can no longer be booked."


class ClassWasMoved(Conflict):
    message = "This class has a new time. Look at it before you book."


@dataclass(frozen=True, slots=True)
class SeatState:
    """What a contact has in a class: a seat, or a place on the list with so many `before` it, or neither."""

    has_seat: bool
    before: int | None = None

    @property
    def waits(self) -> bool:
        return self.before is not None


NOTHING: Final = SeatState(has_seat=False)


def seat_state(booking: ClassBooking) -> SeatState:
    """Return what the contact of a booking has in its class now."""
    if booking.contact_id is None:
        return NOTHING
    if Participant.objects.filter(session=booking.session_id, contact=booking.contact_id).exists():
        return SeatState(has_seat=True)
    entries = WaitingListEntry.objects.filter(session=booking.session_id)
    own = entries.filter(contact=booking.contact_id).values_list("pk", flat=True).first()
    return NOTHING if own is None else SeatState(has_seat=False, before=entries.filter(pk__lt=own).count())


def booked_by_visitors(session: ClassSession, contacts: Collection[int]) -> Collection[int]:
    """Return the contacts who booked a seat or a place in a class on the booking page."""
    rows = ClassBooking.objects.by_visitors().filter(session=session, contact__in=contacts)
    return set(rows.values_list("contact", flat=True))


# A visitor books ------------------------------------------------------------------------------------------------------


@transaction.atomic
def book_seat(*, booking: VisitorBooking, now: datetime) -> ClassBooking:
    """Give a verified visitor a seat, or a place on the list of a full class, and send the confirmation.

    A second call returns the same booking. Raises `ClassIsFull` for a visitor who does not want to wait,
    `ClassNotOpen`, `ClassWasMoved`, `CodeEnded`, `TooManyBookings`, `BookingRefused` and `WaitingListIsFull`.
    """
    locked = lock_booking(booking)
    if locked.class_booking is not None:
        return locked.class_booking
    if locked.class_session is None or not is_verified(locked, now=now):
        raise CodeEnded
    contact = contact_of_visitor(locked, now=now)
    session = _lock_open_class(locked, locked.class_session, now)
    has_seat, is_new = _seat_or_place(session, contact, now, waits=locked.waits)
    known = ClassBooking.objects.filter(session=session, contact=contact).order_by("pk").first()
    made = known or _create(session, contact, zone=locked.timezone, language=locked.language, now=now)
    if known is None or is_new:
        _confirm(made, session, has_seat=has_seat, now=now)
    locked.class_booking = made
    locked.save(update_fields=["class_booking"])
    return made


def _lock_open_class(booking: VisitorBooking, wanted: ClassSession, now: datetime) -> ClassSession:
    wanted.workspace, wanted.service = booking.workspace, booking.service
    session = lock_class(wanted)
    if session.status != Status.SCHEDULED or session.starts_at <= now:
        raise ClassNotOpen
    if session.starts_at != booking.starts_at:
        raise ClassWasMoved
    return session


def _seat_or_place(session: ClassSession, contact: Contact, now: datetime, *, waits: bool) -> tuple[bool, bool]:
    """Seat a contact, or let it wait. Says whether it has a seat, and whether what it has is new.

    The caller has locked the class, so no other transaction takes the last seat in between.
    """
    try:
        _participant, is_new = add_participant(session=session, contact=contact, now=now)
    except ClassIsFull:
        if not waits and not session.waiting.filter(contact=contact).exists():
            raise
        _entry, is_new = join_waiting_list(session=session, contact=contact, now=now)
        return False, is_new
    return True, is_new


def _create(session: ClassSession, contact: Contact, *, zone: str, language: str, now: datetime) -> ClassBooking:
    token, digest = new_token()
    return ClassBooking.objects.create(
        session=session,
        contact=contact,
        timezone=known_zone(zone, session.workspace.timezone),
        language=language,
        token=token,
        token_digest=digest,
        created_at=now,
        updated_at=now,
    )


def _confirm(booking: ClassBooking, session: ClassSession, *, has_seat: bool, now: datetime) -> None:
    if has_seat:
        _give_calendar_entry(booking, now)
    kind = Mail.Kind.SEAT_BOOKED if has_seat else Mail.Kind.SEAT_WAITING
    queue_about_class(session, kind, [booking], in_calendar=has_seat)


def _give_calendar_entry(booking: ClassBooking, now: datetime) -> None:
    """Let the next calendar file count as newer than that of a seat that was cancelled before."""
    if booking.calendar_sequence:
        booking.calendar_sequence += 1
    booking.updated_at = now
    booking.save(update_fields=["calendar_sequence", "updated_at"])


# A visitor gives back -------------------------------------------------------------------------------------------------


def may_give_back(booking: ClassBooking, state: SeatState, *, now: datetime) -> bool:
    """Return whether the visitor may still give back a seat or a place.

    A place until the class begins, a seat until the business's notice before that.
    """
    session = booking.session
    if session.status != Status.SCHEDULED or session.starts_at <= now:
        return False
    return state.waits or (state.has_seat and now < session.starts_at - notice_of(session.workspace))


@transaction.atomic
def give_back(*, booking: ClassBooking, now: datetime, by: Actor) -> SeatState:
    """Give back the seat or the place on the list, and return what it was. Without either, nothing happens.

    Raises `TooLateToChange`.
    """
    lock_class(booking.session)
    fresh = ClassBooking.objects.with_names().get(pk=booking.pk)
    state = seat_state(fresh)
    if state == NOTHING:
        return state
    if not may_give_back(fresh, state, now=now):
        raise TooLateToChange
    if state.has_seat:
        remove_participant(session=fresh.session, contact=fresh.contact, now=now, by=by)
    else:
        leave_waiting_list(session=fresh.session, contact=fresh.contact, by=by)
    return state


# E-mails about changes ----------------------------------------------------------------------------------------------


def _mail_about_change(session: ClassSession, what: ClassChange, contact: Contact | None, now: datetime) -> None:
    """Queue the e-mails about a change of a class that is not over.

    Contacts with a booking get them, and contacts who have moved up, whom nobody else tells.
    """
    if session.ends_at <= now:
        return
    if what == "moved_up" and contact is not None:
        _mail_moved_up(session, contact, now)
    elif what == "removed":
        _mail_contact(session, Mail.Kind.SEAT_CANCELLED, contact, now)
    else:
        _mail_everybody(session, CHANGES[what], now)


def _mail_moved_up(session: ClassSession, contact: Contact, now: datetime) -> None:
    if not contact.email:
        return
    rows = ClassBooking.objects.filter(session=session, contact=contact).select_related("contact").order_by("pk")
    bookings = list(rows) or [_create(session, contact, zone=contact.timezone or "", language="", now=now)]
    for booking in bookings:
        _give_calendar_entry(booking, now)
    queue_about_class(session, Mail.Kind.SEAT_MOVED_UP, bookings)


def _mail_contact(session: ClassSession, kind: Mail.Kind, contact: Contact | None, now: datetime) -> None:
    rows = ClassBooking.objects.filter(session=session, contact=contact)
    rows.update(calendar_sequence=F("calendar_sequence") + 1, updated_at=now)
    queue_about_class(session, kind, rows.select_related("contact").order_by("pk"))


def _mail_everybody(session: ClassSession, kind: Mail.Kind, now: datetime) -> None:
    """Tell who has a seat, with a new calendar file, and who waits, without one."""
    rows = ClassBooking.objects.filter(session=session)
    seated, waiting = rows.seated(), rows.waiting()
    seated.update(calendar_sequence=F("calendar_sequence") + 1, updated_at=now)
    for some, in_calendar in ((seated, True), (waiting, False)):
        queue_about_class(session, kind, some.select_related("contact").order_by("pk"), in_calendar=in_calendar)


CLASS_CHANGE_HANDLER: Final = ClassChangeHandler("appointments", _mail_about_change)
