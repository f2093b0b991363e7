"""A contact's seats when the contact is removed or merged into another."""

from django.utils.timezone import now

from workspaces.classes import events
from workspaces.classes.models import ClassSession, Participant
from workspaces.classes.services.participants import record_participant
from workspaces.contacts.services import ContactMergeHandler, ContactRemovalHandler

Status = ClassSession.Status


def free_seats(contact: int) -> None:
    """Free every seat of a contact that is being removed. The caller holds the contact's lock."""
    _give_up(_seats(contact))


def move_seats(kept: int, gone: int) -> None:
    """Move the seats of a merged contact to the kept one. In a class where both have a seat, one seat is freed."""
    seats = _seats(gone)
    taken = set(Participant.objects.filter(contact=kept).values_list("session", flat=True))
    moving = [seat.pk for seat in seats if seat.session_id not in taken]
    Participant.objects.filter(pk__in=moving).update(contact=kept)
    _give_up([seat for seat in seats if seat.session_id in taken])


def _seats(contact: int) -> list[Participant]:
    """Lock the classes in which a contact takes part, always in the same order. Gives the contact's seats."""
    of_contact = ClassSession.objects.filter(participants__contact=contact).values("pk")
    locked = ClassSession.objects.filter(pk__in=of_contact).order_by("pk").select_for_update(no_key=True)
    sessions = [row.pk for row in locked]
    rows = Participant.objects.filter(contact=contact, session__in=sessions).order_by("session")
    return list(rows.select_related("session__service", "session__staff", "session__workspace", "contact"))


def _give_up(seats: list[Participant]) -> None:
    moment = now()
    for seat in seats:
        session = seat.session
        seat.delete()
        session.participants_count -= 1  # a trigger has counted in the database
        if session.status == Status.SCHEDULED:
            record_participant(events.PARTICIPANT_REMOVED, session, seat.contact, moment)


REMOVAL_HANDLER = ContactRemovalHandler("classes", free_seats)
MERGE_HANDLER = ContactMergeHandler("classes", move_seats)
