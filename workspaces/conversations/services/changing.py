"""What a workspace's people and keys change of a conversation: open or closed, whose it is, what was read."""

from datetime import datetime, timedelta
from typing import NotRequired, TypedDict, Unpack

from django.db import transaction
from django.db.models import QuerySet

from agency.models import User
from config.api.requests.parameters import is_storable
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.models.messages import Direction
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.errors import AssignedMeanwhile, NotInTheTeam
from workspaces.conversations.services.locking import lock_conversation
from workspaces.conversations.services.outbound.read_marks import queue_read_mark
from workspaces.conversations.services.recording import ASSIGNED, CLOSED, REOPENED, record_conversation_events
from workspaces.subaccounts.models import Workspace

JUST_BEFORE = timedelta(microseconds=1)


class ConversationChanges(TypedDict, total=False):
    """`assigned_to` is a team member, or None for nobody; `if_assigned_to` is whom the caller believes to hold it."""

    status: NotRequired[str]
    assigned_to: NotRequired[User | None]
    if_assigned_to: NotRequired[User | None]


def team_of(workspace: Workspace) -> "QuerySet[User]":
    """Give the people who work in a workspace: its owner."""
    return User.objects.filter(owned_workspaces=workspace, owned_workspaces__owner_pending_since=None)


def find_team_member(workspace: Workspace, email: str) -> User:
    """Find a member of the team by their e-mail, in any case. Raises `NotInTheTeam`."""
    found = team_of(workspace).filter(email__iexact=email).first() if is_storable(email) else None
    if found is None:
        raise NotInTheTeam
    return found


@transaction.atomic
def change_conversation(
    *, conversation: Conversation, now: datetime, **changes: Unpack[ConversationChanges]
) -> Conversation:
    """Change a conversation's status and holder; what stays the same tells nobody anything.

    With `if_assigned_to` it changes only while that person, or nobody, holds it. Raises `AssignedMeanwhile`.
    """
    locked = lock_conversation(conversation)
    if "if_assigned_to" in changes and changes["if_assigned_to"] != locked.assigned_to:
        raise AssignedMeanwhile
    happened: list[str] = []
    if changes.get("status", locked.status) != locked.status:
        locked.status, locked.snoozed_until = changes["status"], None
        happened.append(CLOSED if locked.status == Conversation.Status.CLOSED else REOPENED)
    if "assigned_to" in changes and changes["assigned_to"] != locked.assigned_to:
        locked.assigned_to = changes["assigned_to"]
        happened.append(ASSIGNED)
    if happened:
        locked.save(update_fields=["status", "snoozed_until", "assigned_to"])
        _tell(locked, happened, now)
    return locked


@transaction.atomic
def mark_read(*, conversation: Conversation, now: datetime) -> Conversation:
    """Note that all of a conversation was read, and have its contact told where something was unread."""
    locked = lock_conversation(conversation)
    if locked.unread_count:
        queue_read_mark(conversation=locked)
    if locked.unread_count or locked.read_up_to != locked.last_inbound_at:
        locked.read_up_to, locked.unread_count = _newest_inbound(locked), 0
        locked.save(update_fields=["read_up_to", "unread_count"])
        announce_changes([(locked.workspace_id, locked.pk)])
    return locked


@transaction.atomic
def mark_unread(*, conversation: Conversation, now: datetime) -> Conversation:
    """Count the last message that came in as unread again; without one, nothing changes."""
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


def _tell(conversation: Conversation, happened: list[str], now: datetime) -> None:
    told = [(name, conversation.workspace_id, conversation.pk) for name in happened]
    record_conversation_events(told, now=now)
    announce_changes([(conversation.workspace_id, conversation.pk)])
