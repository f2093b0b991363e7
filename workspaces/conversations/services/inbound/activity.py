"""What new messages change of their conversations: unread, the last message, the window, reopening."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from config.leases.arrays import booleans, integers, moments, texts, uuids
from workspaces.contacts.services.people.network_changes import record_last_inbound
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.services.inbound.conversations import LockedConversation

UPDATE = """
UPDATE conversations_conversation conversation
SET status = CASE WHEN change.reopens THEN 'open' ELSE conversation.status END,
    unread_count = conversation.unread_count + change.unread,
    last_message = coalesce(change.last_message, conversation.last_message),
    last_message_uuid = coalesce(change.last_uuid, conversation.last_message_uuid),
    last_message_at = coalesce(change.last_at, conversation.last_message_at),
    last_message_direction = coalesce(change.last_direction, conversation.last_message_direction),
    last_message_type = coalesce(change.last_type, conversation.last_message_type),
    last_message_preview = coalesce(change.last_preview, conversation.last_message_preview),
    snoozed_until = CASE WHEN NOT change.wakes THEN conversation.snoozed_until END,
    last_inbound_at = greatest(conversation.last_inbound_at, change.inbound_at),
    updated_at = %s
FROM unnest(%s::bigint[], %s::boolean[], %s::integer[], %s::bigint[], %s::uuid[], %s::timestamptz[], %s::text[],
    %s::text[], %s::text[], %s::timestamptz[], %s::boolean[]) AS change (id, reopens, unread, last_message, last_uuid,
    last_at, last_direction, last_type, last_preview, inbound_at, wakes)
WHERE conversation.id = change.id
"""


@dataclass(slots=True)
class NewMessage:
    """A message that has just been written."""

    id: int
    uuid: UUID
    conversation: LockedConversation
    direction: str
    type: str
    text: str
    at: datetime


@dataclass(slots=True)
class Activity:
    """What is to change of one conversation."""

    conversation: LockedConversation
    last: NewMessage | None = None
    unread: int = 0
    inbound_at: datetime | None = None
    has_received: bool = False

    def add(self, message: NewMessage) -> None:
        """Count a message in: one that came in reopens the conversation and, if nobody can have seen it, is unread."""
        if self._is_last(message):
            self.last = message
        if message.direction == "in":
            read_up_to = self.conversation.read_up_to
            self.unread += read_up_to is None or message.at >= read_up_to
            self.has_received = True
            self.touch(message.at)

    def touch(self, at: datetime) -> None:
        """Note that the contact did something, which opens the window."""
        self.inbound_at = at if self.inbound_at is None else max(self.inbound_at, at)

    @property
    def reopens(self) -> bool:
        return self.has_received and self.conversation.status == "closed"

    def _is_last(self, message: NewMessage) -> bool:
        if self.last is not None:
            return (message.at, message.id) > (self.last.at, self.last.id)
        return self.conversation.last_message_at is None or message.at >= self.conversation.last_message_at


def activities_of(conversations: Iterable[LockedConversation]) -> dict[int, Activity]:
    """Give an empty account for each conversation, by its id."""
    return {one.id: Activity(one) for one in conversations}


def apply_activities(activities: Collection[Activity], *, now: datetime) -> None:
    """Write down what has changed of conversations, and when their contacts were last heard of."""
    if not activities:
        return
    with connection.cursor() as cursor:
        cursor.execute(UPDATE, [now, *_columns(sorted(activities, key=lambda one: one.conversation.id))])
    record_last_inbound(times=_last_heard(activities))


def _columns(activities: Collection[Activity]) -> list[str]:
    last = [one.last for one in activities]
    return [
        integers([one.conversation.id for one in activities]),
        booleans([one.reopens for one in activities]),
        integers([one.unread for one in activities]),
        integers([one.id if one else None for one in last]),
        uuids([one.uuid if one else None for one in last]),
        moments([one.at if one else None for one in last]),
        texts([one.direction if one else None for one in last]),
        texts([one.type if one else None for one in last]),
        texts([one.text[:LONGEST_PREVIEW] if one else None for one in last]),
        moments([one.inbound_at for one in activities]),
        booleans([one.has_received for one in activities]),
    ]


def _last_heard(activities: Iterable[Activity]) -> dict[int, datetime]:
    heard: dict[int, datetime] = {}
    for one in activities:
        if one.inbound_at is not None:
            contact = one.conversation.contact_id
            heard[contact] = max(heard.get(contact, one.inbound_at), one.inbound_at)
    return heard
