"""Changes a conversation's status, assignee and read state for members and API keys."""

from datetime import datetime, timedelta
from typing import NotRequired, TypedDict, Unpack

from django.db import transaction

from agency.models import User
from config.api.requests import is_storable
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.models.messages import Direction
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.errors import AssignedMeanwhile, NotInTheTeam
from workspaces.conversations.services.locking import lock_conversation
from workspaces.conversations.services.outbound.read_marks import queue_read_mark
from workspaces.conversations.services.recording import ASSIGNED, CLOSED, REOPENED, record_conversation_events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import MemberRemovalHandler, people_of
from workspaces.subaccounts.services.recording import lock_workspace

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
        _tell(locked, happened, now)
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
    told = [(ASSIGNED, workspace.pk, pk) for pk, status in numbers.items() if status == Conversation.Status.OPEN]
    record_conversation_events(told, now=now)
    announce_changes([(workspace.pk, pk) for pk in numbers])


MEMBER_REMOVAL_HANDLER = MemberRemovalHandler("conversations", _unassign_all)


@transaction.atomic
def mark_read(*, conversation: Conversation, now: datetime) -> Conversation:
    """Mark a conversation as read. If something was unread, queue a read receipt for the contact."""
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


def _tell(conversation: Conversation, happened: list[str], now: datetime) -> None:
    told = [(name, conversation.workspace_id, conversation.pk) for name in happened]
    record_conversation_events(told, now=now)
    announce_changes([(conversation.workspace_id, conversation.pk)])
