"""Inserts many messages at once, each one once, and updates their conversations."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from uuid import UUID

from django.db import connection

from config.postgresql.arrays import booleans, integers, texts, timestamps, uuids
from workspaces.contacts.services.channel_people import record_last_inbound
from workspaces.conversations.facts import ReceivedFile, storable, storable_json
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.models.messages import LONGEST_PROVIDER_ID
from workspaces.conversations.services.inbound.conversations import LockedConversation

APART = timedelta(microseconds=1)

UPDATE_CONVERSATIONS = """
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
INSERT_CONVERSATIONS = """
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
class ConversationUpdate:
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
            self.open_window(message.at)

    def add_past(self, message: NewMessage) -> None:
        """Add a message from before the connection, which only may be the last one."""
        if self._is_last(message):
            self.last = message

    def open_window(self, at: datetime) -> None:
        """Record an action of the contact, which opens the 24-hour window."""
        self.inbound_at = at if self.inbound_at is None else max(self.inbound_at, at)

    @property
    def reopens(self) -> bool:
        return self.has_received and self.conversation.status == "closed"

    def _is_last(self, message: NewMessage) -> bool:
        if self.last is not None:
            return (message.at, message.id) > (self.last.at, self.last.id)
        return self.conversation.last_message_at is None or message.at >= self.conversation.last_message_at


def updates_for(
    conversations: Iterable[LockedConversation], *, beside: Iterable[LockedConversation] = ()
) -> dict[int, ConversationUpdate]:
    """Return an empty `ConversationUpdate` by id for each conversation and each one in `beside` without a row yet."""
    unsaved = (one for one in beside if one.is_unsaved)
    return {one.id: ConversationUpdate(one) for one in chain(unsaved, conversations)}


def set_update_times(
    updates: Mapping[int, ConversationUpdate], arrived: Iterable[LockedConversation], *, now: datetime
) -> Collection[ConversationUpdate]:
    """Set `updated_at` of the updates one microsecond apart, in the order of each conversation's last fact.

    `arrived` are the conversations of the facts, in the facts' order.
    """
    last = {one.id: place for place, one in enumerate(arrived) if one.id in updates}
    for number, conversation in enumerate(sorted(last, key=last.__getitem__)):
        updates[conversation].updated_at = now + number * APART
    return updates.values()


def apply_updates(updates: Collection[ConversationUpdate], *, now: datetime) -> None:
    """Insert or update the conversations, and set when their contacts last wrote.

    The contact of a conversation without a row is new and was inserted with that time.
    """
    written = sorted(updates, key=lambda one: one.conversation.id)
    new = [one for one in written if one.conversation.is_unsaved]
    changed = [one for one in written if not one.conversation.is_unsaved]
    with connection.cursor() as cursor:
        if new:
            cursor.execute(INSERT_CONVERSATIONS, [now, *_key_columns(new), *_message_columns(new, now)])
        if changed:
            cursor.execute(
                UPDATE_CONVERSATIONS, [*_ids(changed), *_message_columns(changed, now), *_status_columns(changed)]
            )
    for one in new:
        one.conversation.is_unsaved = False
    record_last_inbound(times=_last_inbound_times(changed))


def _ids(updates: Collection[ConversationUpdate]) -> list[str]:
    return [integers([one.conversation.id for one in updates])]


def _key_columns(updates: Collection[ConversationUpdate]) -> list[str]:
    conversations = [one.conversation for one in updates]
    return [
        *_ids(updates),
        integers([one.workspace_id for one in conversations]),
        integers([one.channel_id for one in conversations]),
        integers([one.contact_id for one in conversations]),
    ]


def _message_columns(updates: Collection[ConversationUpdate], now: datetime) -> list[str]:
    last = [one.last for one in updates]
    return [
        timestamps([one.updated_at or now for one in updates]),
        integers([one.unread for one in updates]),
        integers([one.id if one else None for one in last]),
        uuids([one.uuid if one else None for one in last]),
        timestamps([one.at if one else None for one in last]),
        texts([one.direction if one else None for one in last]),
        texts([one.type if one else None for one in last]),
        texts([one.text[:LONGEST_PREVIEW] if one else None for one in last]),
        timestamps([one.inbound_at for one in updates]),
    ]


def _status_columns(updates: Collection[ConversationUpdate]) -> list[str]:
    return [booleans([one.reopens for one in updates]), booleans([one.has_received for one in updates])]


def _last_inbound_times(updates: Iterable[ConversationUpdate]) -> dict[int, datetime]:
    heard: dict[int, datetime] = {}
    for one in updates:
        if one.inbound_at is not None:
            contact = one.conversation.contact_id
            heard[contact] = max(heard.get(contact, one.inbound_at), one.inbound_at)
    return heard


INSERT_MESSAGES = """
INSERT INTO conversations_message (uuid, workspace_id, channel_id, conversation_id, direction, type, text, details,
    status, provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at, sent_at)
SELECT gen_random_uuid(), new.workspace_id, new.channel_id, new.conversation_id, %(direction)s, new.type, new.text,
    new.details::jsonb, %(status)s, new.message_id, %(elsewhere)s, '', '', new.at, %(now)s,
    CASE WHEN %(elsewhere)s THEN new.at END
FROM unnest(%(workspaces)s::bigint[], %(channels)s::bigint[], %(conversations)s::bigint[], %(types)s::text[],
    %(texts)s::text[], %(details)s::text[], %(ids)s::text[], %(times)s::timestamptz[])
    AS new (workspace_id, channel_id, conversation_id, type, text, details, message_id, at)
ON CONFLICT (channel_id, provider_message_id) WHERE provider_message_id IS NOT NULL DO NOTHING
RETURNING channel_id, provider_message_id, id, uuid
"""
INSERT_MEDIA_FETCHES = """
INSERT INTO conversations_mediafetch (message_id, channel_id, reference, content_type, sha256, filename, status, fault,
    tries, due_at)
SELECT message_id, channel_id, reference, content_type, sha256, filename,
    CASE WHEN may_be_kept THEN 'pending' ELSE 'not_kept' END, '', 0, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::boolean[])
    AS new (message_id, channel_id, reference, content_type, sha256, filename, may_be_kept)
"""
NO_DETAILS = "{}"


@dataclass(slots=True)
class Draft:
    """A message that will be inserted unless its channel has a message with its id already."""

    conversation: LockedConversation
    message_id: str
    type: str
    text: str
    details: str
    at: datetime


def draft_of(
    conversation: LockedConversation, message_id: str, type: str, text: str, details: object, at: datetime
) -> Draft:
    """Make a draft of a network's message, without characters that cannot be stored."""
    written = storable_json(details) if details else NO_DETAILS
    return Draft(conversation, storable(message_id)[:LONGEST_PROVIDER_ID], type, storable(text), written, at)


def write_messages(drafts: Sequence[Draft], *, direction: str, now: datetime) -> dict[tuple[int, str], NewMessage]:
    """Insert the new messages by time, then in the drafts' order. Return them by channel and provider's id.

    The first draft of a message counts.
    """
    once: dict[tuple[int, str], Draft] = {}
    for draft in drafts:
        once.setdefault((draft.conversation.channel_id, draft.message_id), draft)
    ordered = sorted(once.values(), key=lambda one: one.at)
    if not ordered:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MESSAGES, _values(ordered, direction, now))
        rows: list[tuple[int, str, int, UUID]] = cursor.fetchall()
    return {
        (channel, message): _new(once[channel, message], number, uuid, direction)
        for channel, message, number, uuid in rows
    }


def _values(drafts: Sequence[Draft], direction: str, now: datetime) -> dict[str, str | bool | datetime]:
    conversations = [one.conversation for one in drafts]
    return {
        "now": now,
        "direction": direction,
        "status": "received" if direction == "in" else "sent",
        "elsewhere": direction == "out",
        "workspaces": integers([one.workspace_id for one in conversations]),
        "channels": integers([one.channel_id for one in conversations]),
        "conversations": integers([one.id for one in conversations]),
        "types": texts([one.type for one in drafts]),
        "texts": texts([one.text for one in drafts]),
        "details": texts([one.details for one in drafts]),
        "ids": texts([one.message_id for one in drafts]),
        "times": timestamps([one.at for one in drafts]),
    }


def _new(draft: Draft, id: int, uuid: UUID, direction: str) -> NewMessage:
    return NewMessage(id, uuid, draft.conversation, direction, draft.type, draft.text, draft.at)


def write_files(files: Sequence[tuple[NewMessage, ReceivedFile]], *, now: datetime) -> None:
    """Queue files to be fetched. A file that may not be kept is recorded but never fetched."""
    if not files:
        return
    some = [file for _, file in files]
    columns = [
        integers([message.id for message, _ in files]),
        integers([message.conversation.channel_id for message, _ in files]),
        texts([storable(file.reference)[:4_096] for file in some]),
        texts([storable(file.content_type)[:200] for file in some]),
        texts([storable(file.sha256)[:100] for file in some]),
        texts([storable(file.filename)[:300] for file in some]),
        booleans([file.may_be_kept for file in some]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MEDIA_FETCHES, [now, *columns])
