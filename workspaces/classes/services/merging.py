"""What becomes of seats when two contacts become one."""

from workspaces.classes.models import Participant
from workspaces.contacts.services import ContactMergeHandler


def move_seats(kept: int, gone: int) -> None:
    """Give the one who stays the seats of the other; where both had one, it is one seat, and the other's is free."""
    own = Participant.objects.filter(contact=kept).values("session")
    Participant.objects.filter(contact=gone).exclude(session__in=own).update(contact=kept)


MERGE_HANDLER = ContactMergeHandler(name="classes", move=move_seats)
