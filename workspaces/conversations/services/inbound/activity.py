"""Updates conversations for new messages: unread count, last message, 24-hour window, reopening."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from uuid import UUID

from django.db import connection

from config.postgresql.arrays import booleans, integers, texts, timestamps, uuids
from workspaces.contacts.services.people.network_changes import record_last_inbound
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.services.inbound.conversations import LockedConversation

APART = timedelta(microseconds=1)

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
    updated_at = change.updated_at
FROM unnest(%s::bigint[], %s::timestamptz[], %s::integer[], %s::bigint[], %s::uuid[], %s::timestamptz[], %s::text[],
    %s::text[], %s::text[], %s::timestamptz[], %s::boolean[], %s::boolean[]) AS change (id, updated_at, unread,
    last_message, last_uuid, last_at, last_direction, last_type, last_preview, inbound_at, reopens, wakes)
WHERE conversation.id = change.id
"""
WRITE = """
INSERT INTO conversations_conversation (id, uuid, workspace_id, channel_id, contact_id, status, unread_count,
    last_message, last_message_uuid, last_message_at, last_message_direction, last_message_type, last_message_preview,
    last_inbound_at, created_at, updated_at)
SELECT id, gen_random_uuid(), workspace_id, channel_id, contact_id, 'open', unread, last_message, last_uuid, last_at,
    coalesce(last_direction, ''), coalesce(last_type, ''), coalesce(last_preview, ''), inbound_at, %s, updated_at
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::timestamptz[], %s::integer[], %s::bigint[],
    %s::uuid[], %s::timestamptz[], %s::text[], %s::text[], %s::text[], %s::timestamptz[]) AS new (id, workspace_id,
    channel_id, contact_id, updated_at, unread, last_message, last_uuid, last_at, last_direction, last_type,
    last_preview, inbound_at)
"""


@dataclass(slots=True)
class NewMessage:
    """A message that has just been inserted."""

    id: int
    uuid: UUID
    conversation: LockedConversation
    direction: str
    type: str
    text: str
    at: datetime


@dataclass(slots=True)
class Activity:
    """The collected changes of one conversation."""

    conversation: LockedConversation
    last: NewMessage | None = None
    unread: int = 0
    inbound_at: datetime | None = None
    has_received: bool = False
    updated_at: datetime | None = None

    def add(self, message: NewMessage) -> None:
        """Add a message. An incoming one reopens the conversation, and is unread unless older than `read_up_to`."""
        if self._is_last(message):
            self.last = message
        if message.direction == "in":
            read_up_to = self.conversation.read_up_to
            self.unread += read_up_to is None or message.at >= read_up_to
            self.has_received = True
            self.touch(message.at)

    def touch(self, at: datetime) -> None:
        """Record an action of the contact, which opens the 24-hour window."""
        self.inbound_at = at if self.inbound_at is None else max(self.inbound_at, at)

    @property
    def reopens(self) -> bool:
        return self.has_received and self.conversation.status == "closed"

    def _is_last(self, message: NewMessage) -> bool:
        if self.last is not None:
            return (message.at, message.id) > (self.last.at, self.last.id)
        return self.conversation.last_message_at is None or message.at >= self.conversation.last_message_at


def activities_of(
    conversations: Iterable[LockedConversation], *, beside: Iterable[LockedConversation] = ()
) -> dict[int, Activity]:
    """Return an empty `Activity` by id for each conversation, and for each one in `beside` without a row yet."""
    unwritten = (one for one in beside if one.is_unwritten)
    return {one.id: Activity(one) for one in chain(unwritten, conversations)}


def in_order_of_arrival(
    activities: Mapping[int, Activity], arrived: Iterable[LockedConversation], *, now: datetime
) -> Collection[Activity]:
    """Set `updated_at` of the activities one microsecond apart, in the order of each conversation's last fact.

    `arrived` are the conversations of the facts, in the facts' order.
    """
    last = {one.id: place for place, one in enumerate(arrived) if one.id in activities}
    for number, conversation in enumerate(sorted(last, key=last.__getitem__)):
        activities[conversation].updated_at = now + number * APART
    return activities.values()


def apply_activities(activities: Collection[Activity], *, now: datetime) -> None:
    """Insert or update the conversations, and set when their contacts last wrote.

    The contact of a conversation without a row is new and was inserted with that time.
    """
    written = sorted(activities, key=lambda one: one.conversation.id)
    new = [one for one in written if one.conversation.is_unwritten]
    changed = [one for one in written if not one.conversation.is_unwritten]
    with connection.cursor() as cursor:
        if new:
            cursor.execute(WRITE, [now, *_places(new), *_counts(new, now)])
        if changed:
            cursor.execute(UPDATE, [*_ids(changed), *_counts(changed, now), *_consequences(changed)])
    for one in new:
        one.conversation.is_unwritten = False
    record_last_inbound(times=_last_heard(changed))


def _ids(activities: Collection[Activity]) -> list[str]:
    return [integers([one.conversation.id for one in activities])]


def _places(activities: Collection[Activity]) -> list[str]:
    conversations = [one.conversation for one in activities]
    return [
        *_ids(activities),
        integers([one.workspace_id for one in conversations]),
        integers([one.channel_id for one in conversations]),
        integers([one.contact_id for one in conversations]),
    ]


def _counts(activities: Collection[Activity], now: datetime) -> list[str]:
    last = [one.last for one in activities]
    return [
        timestamps([one.updated_at or now for one in activities]),
        integers([one.unread for one in activities]),
        integers([one.id if one else None for one in last]),
        uuids([one.uuid if one else None for one in last]),
        timestamps([one.at if one else None for one in last]),
        texts([one.direction if one else None for one in last]),
        texts([one.type if one else None for one in last]),
        texts([one.text[:LONGEST_PREVIEW] if one else None for one in last]),
        timestamps([one.inbound_at for one in activities]),
    ]


def _consequences(activities: Collection[Activity]) -> list[str]:
    return [booleans([one.reopens for one in activities]), booleans([one.has_received for one in activities])]


def _last_heard(activities: Iterable[Activity]) -> dict[int, datetime]:
    heard: dict[int, datetime] = {}
    for one in activities:
        if one.inbound_at is not None:
            contact = one.conversation.contact_id
            heard[contact] = max(heard.get(contact, one.inbound_at), one.inbound_at)
    return heard
