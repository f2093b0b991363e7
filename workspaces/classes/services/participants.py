"""Participants of a class, never more than it has seats."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import F

from config.errors import Conflict, NotFound
from workspaces.classes import events
from workspaces.classes.models import ClassSession, Participant
from workspaces.classes.services.sessions import lock_class, require_scheduled
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.subaccounts.services import record_workspace_event

Status = ClassSession.Status
HOLD = "SELECT 1 FROM contacts_contact WHERE id = %s FOR SHARE"


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
    _hold_contact(contact)
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
    session.participants_count += 1  # a trigger has counted in the database
    record_participant(events.PARTICIPANT_ADDED, session, contact, now)
    if session.is_full:
        record_workspace_event(workspace=session.workspace, name=events.CLASS_FULL, now=now, **{"class": session})
    return participant, True


@transaction.atomic
def remove_participant(*, session: ClassSession, contact: Contact | None, now: datetime) -> ClassSession:
    """Free the seat of a contact. Raises `ClassIsCancelled`, `ClassIsCompleted`, `ParticipantNotFound`."""
    session = lock_class(session)
    seated = session.participants.filter(contact=contact).first() if contact else None
    if contact is None or seated is None:
        raise ParticipantNotFound
    require_scheduled(session)
    seated.delete()
    session.participants_count -= 1
    record_participant(events.PARTICIPANT_REMOVED, session, contact, now)
    return session


def record_participant(name: str, session: ClassSession, contact: Contact, now: datetime) -> None:
    """Record an event about a contact who got or lost a seat."""
    data = {"class": session, "contact": contact}
    record_workspace_event(workspace=session.workspace, name=name, now=now, **data)


def _refuse_if_full(session: ClassSession, contact: Contact) -> None:
    """Raise `ClassIsFull` without the class's lock, for which all requests for a popular class would queue."""
    full = ClassSession.objects.filter(pk=session.pk, status=Status.SCHEDULED, participants_count__gte=F("capacity"))
    if full.exclude(participants__contact=contact).exists():
        raise ClassIsFull


def _hold_contact(contact: Contact) -> None:
    """Lock a contact against removal until the transaction ends. Raises `ContactNotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [contact.pk])
        if cursor.fetchone() is None:
            raise ContactNotFound
