"""Gives contacts seats in classes, up to the number of seats, and frees them for the next of the waiting list."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.utils.timezone import now

from agency.actors import Actor
from config.errors import Conflict, NotFound
from workspaces.classes import events
from workspaces.classes.models import ClassSession, Participant, WaitingListEntry
from workspaces.classes.services.sessions import (
    Status,
    call_change_handlers,
    lock_class,
    record_contact_activity,
    record_participant,
    require_scheduled,
)
from workspaces.classes.services.waiting_lists import fill_free_seats, share_lock_contact
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactMergeHandler, ContactRemovalHandler
from workspaces.subaccounts.services import record_workspace_event


class ParticipantNotFound(NotFound):
    message = "Participant not found."


class ClassIsFull(Conflict):
    message = "This class is full."


@transaction.atomic
def add_participant(*, session: ClassSession, contact: Contact, now: datetime) -> tuple[Participant, bool]:
    """Give a contact a seat. Says whether the seat is new; a contact with a seat keeps it.

    Contacts are locked before classes, as in the removal of a contact. Raises `ClassIsCancelled`,
    `ClassIsCompleted`, `ClassIsFull`, `ContactNotFound`.
    """
    share_lock_contact(contact)
    _refuse_if_full(session, contact)
    session = lock_class(session)
    seated = session.participants.filter(contact=contact).first()
    if seated:
        seated.contact = contact
        return seated, False
    require_scheduled(session)
    if session.is_full:
        raise ClassIsFull
    participant = Participant.objects.create(session=session, contact=contact, created_at=now)
    WaitingListEntry.objects.filter(session=session, contact=contact).delete()
    session.participants_count += 1  # a trigger has counted in the database
    record_participant(events.PARTICIPANT_ADDED, session, contact, now)
    if session.is_full:
        record_workspace_event(workspace=session.workspace, name=events.CLASS_FULL, now=now, **{"class": session})
    return participant, True


@transaction.atomic
def remove_participant(*, session: ClassSession, contact: Contact | None, now: datetime, by: Actor) -> ClassSession:
    """Free the seat of a contact; the first of the waiting list gets it.

    Raises `ClassIsCancelled`, `ClassIsCompleted`, `ParticipantNotFound`.
    """
    session = lock_class(session)
    seated = session.participants.filter(contact=contact).first() if contact else None
    if contact is None or seated is None:
        raise ParticipantNotFound
    require_scheduled(session)
    seated.delete()
    session.participants_count -= 1
    record_participant(events.PARTICIPANT_REMOVED, session, contact, now)
    record_contact_activity(session, contact, what="seat_removed", by=by)
    call_change_handlers(session, "removed", contact, now)
    fill_free_seats(session, now)
    return session


def _refuse_if_full(session: ClassSession, contact: Contact) -> None:
    """Raise `ClassIsFull` without the class's lock, for which all requests for a popular class would queue."""
    full = ClassSession.objects.filter(pk=session.pk, status=Status.SCHEDULED, participants_count__gte=F("capacity"))
    if full.exclude(participants__contact=contact).exists():
        raise ClassIsFull


def free_seats(contact: int) -> None:
    """Free every seat and place of a contact that is being removed. The caller holds the contact's lock."""
    sessions = _lock_classes_of(contact)
    WaitingListEntry.objects.filter(contact=contact, session__in=sessions).delete()
    _delete_seats(_seats(contact, sessions))


def move_seats(kept: int, gone: int) -> None:
    """Move the seats and places of a merged contact to the kept one.

    In a class where both have a seat, one seat is freed. Who has a seat waits no longer.
    """
    sessions = _lock_classes_of(gone)
    seats = _seats(gone, sessions)
    taken = set(Participant.objects.filter(contact=kept).values_list("session", flat=True))
    moving = [seat.pk for seat in seats if seat.session_id not in taken]
    Participant.objects.filter(pk__in=moving).update(contact=kept)
    _move_places(kept, gone, sessions)
    _delete_seats([seat for seat in seats if seat.session_id in taken])


def _move_places(kept: int, gone: int, sessions: Iterable[int]) -> None:
    """Keep the better of two places on a list, and none in a class where the kept contact has a seat."""
    entries = WaitingListEntry.objects.filter(session__in=sessions)
    seated = Participant.objects.filter(contact=kept, session__in=sessions).values("session")
    entries.filter(contact__in=(kept, gone), session__in=seated).delete()
    places = dict(entries.filter(contact=kept).values_list("session", "pk"))
    for entry in entries.filter(contact=gone):
        own = places.get(entry.session_id)
        if own is None or entry.pk < own:
            WaitingListEntry.objects.filter(session=entry.session_id, contact=kept).delete()
            WaitingListEntry.objects.filter(pk=entry.pk).update(contact=kept)
        else:
            entry.delete()


def _lock_classes_of(contact: int) -> list[int]:
    """Lock the classes in which a contact takes part or waits, always in the same order."""
    of_contact = Q(pk__in=Participant.objects.filter(contact=contact).values("session"))
    of_contact |= Q(pk__in=WaitingListEntry.objects.filter(contact=contact).values("session"))
    locked = ClassSession.objects.filter(of_contact).order_by("pk").select_for_update(no_key=True)
    return [row.pk for row in locked]


def _seats(contact: int, sessions: list[int]) -> list[Participant]:
    rows = Participant.objects.filter(contact=contact, session__in=sessions).order_by("session")
    return list(rows.select_related("session__service", "session__staff", "session__workspace", "contact"))


def _delete_seats(seats: list[Participant]) -> None:
    moment = now()
    for seat in seats:
        session = seat.session
        seat.delete()
        session.participants_count -= 1  # a trigger has counted in the database
        if session.status == Status.SCHEDULED:
            record_participant(events.PARTICIPANT_REMOVED, session, seat.contact, moment)
            fill_free_seats(session, moment)


REMOVAL_HANDLER = ContactRemovalHandler("classes", free_seats)
MERGE_HANDLER = ContactMergeHandler("classes", move_seats)
