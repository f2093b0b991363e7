"""What members and API keys change: status, assignee, read state, snoozing and notes of a conversation."""

from datetime import datetime, timedelta
from typing import NotRequired, TypedDict, Unpack

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.models import User
from config.api.requests import is_storable
from config.celery import wake_up
from config.db import TimeOrExpression
from config.errors import Conflict, InvalidInput
from workspaces.conversations.models import Conversation, Message, Note, ReadMark
from workspaces.conversations.models.messages import Direction
from workspaces.conversations.services.content import RULES, ComposerMode, require_composer_mode
from workspaces.conversations.services.conversations import (
    ASSIGNED,
    CLOSED,
    NOTE_ADDED,
    REOPENED,
    AssignedMeanwhile,
    NotInTheTeam,
    announce_changes,
    lock_conversation,
    record_conversation_events,
)
from workspaces.conversations.services.registries import end_conversations
from workspaces.conversations.services.sending import SENDER
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import MemberRemovalHandler, people_of, record_workspace_event
from workspaces.subaccounts.services.recording import lock_workspace


@transaction.atomic
def add_note(*, conversation: Conversation, text: str, now: datetime, by: Actor, begun_as: str = "") -> Note:
    """Add a note, which the contact never sees. Raises `ComposerModeSomethingElse` for a text begun as a message."""
    require_composer_mode(ComposerMode.NOTE, begun_as)
    locked = lock_conversation(conversation)
    note = Note.objects.create(
        conversation=locked, text=text, author_kind=by.kind, author_label=by.label, created_at=now
    )
    record_workspace_event(workspace=locked.workspace, name=NOTE_ADDED, now=now, conversation=locked, note=note)
    announce_changes([(locked.workspace_id, locked.pk)])
    return note


# A message of the contact ends the snooze earlier.

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


# Each is sent at most once.


def queue_read_receipt(*, conversation: Conversation) -> None:
    """Queue a read receipt. The caller's transaction holds the conversation's lock."""
    channel = conversation.channel
    if channel.platform not in RULES or channel.status != Channel.Status.ACTIVE:
        return
    mark = ReadMark(conversation_id=conversation.pk, agency_id=conversation.workspace.agency_id, channel_id=channel.pk)
    # An existing mark is updated, which locks it. So the sender takes it only after this transaction has committed.
    ReadMark.objects.bulk_create(
        [mark], update_conflicts=True, unique_fields=["conversation_id"], update_fields=["channel_id"]
    )
    wake_up(SENDER)


JUST_BEFORE = timedelta(microseconds=1)


class ConversationChanges(TypedDict, total=False):
    """The fields that may be changed. `assigned_to` is a team member or None.

    `if_assigned_to` is the e-mail of the assignee that the caller expects, in any case of letters.
    """

    status: NotRequired[str]
    assigned_to: NotRequired[User | None]
    if_assigned_to: NotRequired[str | None]


def find_team_member(workspace: Workspace, email: str) -> User:
    """Return the team member with this e-mail, in any case of letters. Raises `NotInTheTeam`."""
    found = people_of(workspace).filter(email__iexact=email).first() if is_storable(email) else None
    if found is None:
        raise NotInTheTeam
    return found


@transaction.atomic
def change_conversation(
    *, conversation: Conversation, now: datetime, **changes: Unpack[ConversationChanges]
) -> Conversation:
    """Change a conversation's status and assignee. Events are recorded for real changes only.

    Raises `AssignedMeanwhile` if the assignee is not `if_assigned_to`, and `NotInTheTeam` if the new assignee does not
    work in the workspace.
    """
    if changes.get("assigned_to"):
        lock_workspace(conversation.workspace)  # before the conversation, as the removal of a member does
    locked = lock_conversation(conversation)
    if "if_assigned_to" in changes and (changes["if_assigned_to"] or "").lower() != _holder_of(locked):
        raise AssignedMeanwhile
    happened: list[str] = []
    if changes.get("status", locked.status) != locked.status:
        locked.status, locked.snoozed_until = changes["status"], None
        happened.append(CLOSED if locked.status == Conversation.Status.CLOSED else REOPENED)
    if "assigned_to" in changes and changes["assigned_to"] != locked.assigned_to:
        locked.assigned_to = _require_in_team(locked.workspace, changes["assigned_to"])
        happened.append(ASSIGNED)
    if happened:
        locked.save(update_fields=["status", "snoozed_until", "assigned_to"])
        end_conversations([locked.pk] if CLOSED in happened else [])
        _record_events(locked, happened, now)
    return locked


def _holder_of(conversation: Conversation) -> str:
    return conversation.assigned_to.email.lower() if conversation.assigned_to else ""


def _require_in_team(workspace: Workspace, user: User | None) -> User | None:
    """Return the assignee if they work in the workspace. Agency staff who only visit it must not keep conversations."""
    if user is not None and not people_of(workspace).filter(pk=user.pk).exists():
        raise NotInTheTeam
    return user


def _unassign_all(workspace: Workspace, user: User, now: datetime) -> None:
    """Unassign all conversations of a removed member. Record events for the open ones, so that others take them."""
    held = Conversation.objects.of(workspace).filter(assigned_to=user).order_by("pk").select_for_update(no_key=True)
    numbers = dict(held.values_list("pk", "status"))
    Conversation.objects.filter(pk__in=numbers).update(assigned_to=None)
    keys = [(ASSIGNED, workspace.pk, pk) for pk, status in numbers.items() if status == Conversation.Status.OPEN]
    record_conversation_events(keys, now=now)
    announce_changes([(workspace.pk, pk) for pk in numbers])


MEMBER_REMOVAL_HANDLER = MemberRemovalHandler("conversations", _unassign_all)


@transaction.atomic
def mark_read(*, conversation: Conversation, now: datetime) -> Conversation:
    """Mark a conversation as read. If something was unread, queue a read receipt for the contact."""
    locked = lock_conversation(conversation)
    if locked.unread_count:
        queue_read_receipt(conversation=locked)
    if locked.unread_count or locked.read_up_to != locked.last_inbound_at:
        locked.read_up_to, locked.unread_count = _newest_inbound(locked), 0
        locked.save(update_fields=["read_up_to", "unread_count"])
        announce_changes([(locked.workspace_id, locked.pk)])
    return locked


@transaction.atomic
def mark_unread(*, conversation: Conversation, now: datetime) -> Conversation:
    """Mark the last incoming message as unread. Without one, nothing changes."""
    locked = lock_conversation(conversation)
    newest = _newest_inbound(locked)
    if newest is not None and not locked.unread_count:
        locked.read_up_to, locked.unread_count = newest - JUST_BEFORE, 1
        locked.save(update_fields=["read_up_to", "unread_count"])
        announce_changes([(locked.workspace_id, locked.pk)])
    return locked


def _newest_inbound(conversation: Conversation) -> datetime | None:
    received = Message.objects.filter(conversation=conversation, direction=Direction.IN)
    return received.order_by("-provider_time", "-id").values_list("provider_time", flat=True).first()


def _record_events(conversation: Conversation, happened: list[str], now: datetime) -> None:
    keys = [(name, conversation.workspace_id, conversation.pk) for name in happened]
    record_conversation_events(keys, now=now)
    announce_changes([(conversation.workspace_id, conversation.pk)])
