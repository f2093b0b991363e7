"""Snoozes conversations until a time. A message of the contact ends the snooze earlier."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from config.db import TimeOrExpression
from config.errors import Conflict, InvalidInput
from workspaces.conversations.models import Conversation
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.locking import lock_conversation

LONGEST_SNOOZE = timedelta(days=366)
BATCH = 200


class CannotSnoozeClosed(Conflict):
    message = "This conversation is closed. Reopen it first."


class SnoozeTimeRefused(InvalidInput):
    message = "A conversation can be snoozed until a time within the next year."
    field = "until"


@transaction.atomic
def snooze_conversation(*, conversation: Conversation, until: datetime | None, now: datetime) -> Conversation:
    """Snooze a conversation until a time, or end the snooze with None.

    Raises `CannotSnoozeClosed` and `SnoozeTimeRefused`.
    """
    if until is not None and not now < until <= now + LONGEST_SNOOZE:
        raise SnoozeTimeRefused
    locked = lock_conversation(conversation)
    if until is not None and locked.status == Conversation.Status.CLOSED:
        raise CannotSnoozeClosed
    if locked.snoozed_until != until:
        locked.snoozed_until = until
        locked.save(update_fields=["snoozed_until"])
        announce_changes([(locked.workspace_id, locked.pk)])
    return locked


@transaction.atomic
def wake_snoozed_conversations(*, now: datetime, batch: int = BATCH) -> int:
    """Move a batch of conversations whose snooze has ended to the top of their lists. Return how many.

    The lists compare `snoozed_until` with the database's clock, so they show a conversation on time even before this.
    """
    rows = conversations_to_wake(now).select_for_update(skip_locked=True, no_key=True)
    woken = list(rows.values_list("workspace_id", "pk")[:batch])
    Conversation.objects.filter(pk__in=[pk for _, pk in woken]).update(snoozed_until=None, updated_at=now)
    announce_changes(woken)
    return len(woken)


def conversations_to_wake(now: TimeOrExpression) -> "QuerySet[Conversation]":
    """Return the conversations whose snooze has ended, earliest first."""
    return Conversation.objects.filter(snoozed_until__lte=now).order_by("snoozed_until")
