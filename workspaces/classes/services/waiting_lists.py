"""Waiting lists of full classes. A seat that becomes free goes to the first contact of the list at once."""

from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import F, QuerySet

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
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound

MOST_WAITING: Final = 500
FILLED_AT_ONCE: Final = 50
SHARE_LOCK_CONTACT: Final = "SELECT 1 FROM contacts_contact WHERE id = %s FOR SHARE"
# A merge holds its contacts and waits for their classes, so their contacts are left for the merge to give the seat to.
NEXT_ENTRIES: Final = """
SELECT entry.id FROM classes_waitinglistentry AS entry
JOIN contacts_contact AS contact ON contact.id = entry.contact_id
WHERE entry.session_id = %s ORDER BY entry.id LIMIT %s FOR KEY SHARE OF contact SKIP LOCKED
"""


class WaitingListEntryNotFound(NotFound):
    message = "This contact is not on the waiting list."


class ClassHasFreeSeats(Conflict):
    message = "This class has free seats."


class ContactHasASeat(Conflict):
    message = "This contact has a seat in this class."


class WaitingListIsFull(Conflict):
    message = f"The waiting list of this class is full: {MOST_WAITING} contacts wait."


@transaction.atomic
def join_waiting_list(*, session: ClassSession, contact: Contact, now: datetime) -> tuple[WaitingListEntry, bool]:
    """Put a contact at the end of a full class's list. Says whether the entry is new.

    A contact on the list keeps the place. Raises `ClassHasFreeSeats`, `ClassIsCancelled`, `ClassIsCompleted`,
    `ContactHasASeat`, `ContactNotFound`, `WaitingListIsFull`.
    """
    share_lock_contact(contact)
    session = lock_class(session)
    require_scheduled(session)
    entry = WaitingListEntry.objects.filter(session=session, contact=contact).first()
    if entry is not None:
        entry.contact = contact
        return entry, False
    if session.participants.filter(contact=contact).exists():
        raise ContactHasASeat
    if not session.is_full:
        raise ClassHasFreeSeats
    if session.waiting.count() >= MOST_WAITING:
        raise WaitingListIsFull
    return WaitingListEntry.objects.create(session=session, contact=contact, created_at=now), True


@transaction.atomic
def leave_waiting_list(*, session: ClassSession, contact: Contact | None, by: Actor) -> None:
    """Take a contact from the list. Raises `WaitingListEntryNotFound`."""
    session = lock_class(session)
    deleted, _ = WaitingListEntry.objects.filter(session=session, contact=contact).delete()
    if contact is None or not deleted:
        raise WaitingListEntryNotFound
    record_contact_activity(session, contact, what="waiting_list_left", by=by)


def fill_free_seats(session: ClassSession, now: datetime) -> list[Participant]:
    """Give the free seats of a coming class to the first contacts of its list. The caller holds the class's lock."""
    if session.status != Status.SCHEDULED or session.starts_at <= now or session.is_full:
        return []
    entries = WaitingListEntry.objects.filter(pk__in=_next_entries(session)).select_related("contact").order_by("pk")
    return [_seat(session, entry, now) for entry in entries]


def _next_entries(session: ClassSession) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(NEXT_ENTRIES, [session.pk, session.free_seats])
        return [key for (key,) in cursor.fetchall()]


def _seat(session: ClassSession, entry: WaitingListEntry, now: datetime) -> Participant:
    contact = entry.contact
    entry.delete()
    participant = Participant.objects.create(session=session, contact=contact, created_at=now)
    session.participants_count += 1  # a trigger has counted in the database
    record_participant(events.PARTICIPANT_ADDED, session, contact, now)
    call_change_handlers(session, "moved_up", contact, now)
    return participant


def classes_with_free_seats(now: datetime) -> "QuerySet[ClassSession]":
    """Give coming classes that have free seats and a waiting list, which happens if a merge of contacts broke off."""
    of_lists = WaitingListEntry.objects.values("session")
    rows = ClassSession.objects.filter(pk__in=of_lists, status=Status.SCHEDULED, starts_at__gt=now)
    return rows.filter(participants_count__lt=F("capacity"))


@transaction.atomic
def fill_left_seats(*, now: datetime) -> None:
    """Fill free seats of classes that have a waiting list. Locked classes wait for the next run."""
    rows = classes_with_free_seats(now).select_related("workspace", "service", "staff").order_by("pk")
    for session in rows.select_for_update(skip_locked=True, no_key=True, of=("self",))[:FILLED_AT_ONCE]:
        fill_free_seats(session, now)


def share_lock_contact(contact: Contact) -> None:
    """Lock a contact against removal until the transaction ends. Raises `ContactNotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(SHARE_LOCK_CONTACT, [contact.pk])
        if cursor.fetchone() is None:
            raise ContactNotFound
