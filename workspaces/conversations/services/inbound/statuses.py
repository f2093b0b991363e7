"""Applies statuses of sent messages and read watermarks. Statuses only move forward, in whatever order they come."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from config.api.requests import parse_uuid
from config.metrics import count
from config.postgresql.arrays import integers, texts, timestamps, uuids
from workspaces.conversations.facts import ReadUpTo, StatusChanged, storable
from workspaces.conversations.models.messages import OUTCOME_UNKNOWN
from workspaces.conversations.services.conversations import (
    MESSAGE_TOPICS,
    EventKey,
    announce_changes,
    record_message_events,
)
from workspaces.conversations.services.inbound.changes import apply_parked_changes

RANKS = {"pending": 0, "sent": 1, "delivered": 2, "read": 3}
PROOFS = ("delivered", "read")
CONFLICTS = "message_status_conflicts_total"
LONGEST_CODE, LONGEST_ERROR = 60, 1_000

FIND_BY_PROVIDER_ID = """
SELECT asked.number, message.id, message.workspace_id, message.conversation_id, message.status, message.error_code
FROM unnest(%s::bigint[], %s::text[]) WITH ORDINALITY AS asked (channel_id, message_id, number)
JOIN conversations_message message
    ON message.channel_id = asked.channel_id AND message.provider_message_id = asked.message_id
WHERE message.direction = 'out'
ORDER BY message.id FOR NO KEY UPDATE OF message
"""
FIND_BY_UUID = """
SELECT asked.number, message.id, message.workspace_id, message.conversation_id, message.status, message.error_code
FROM unnest(%s::bigint[], %s::uuid[]) WITH ORDINALITY AS asked (channel_id, uuid, number)
JOIN conversations_message message ON message.uuid = asked.uuid AND message.channel_id = asked.channel_id
WHERE message.direction = 'out'
ORDER BY message.id FOR NO KEY UPDATE OF message
"""
# A status fills the times that are still empty, including those of earlier statuses that are missing.
UPDATE_STATUSES = """
UPDATE conversations_message message
SET status = moved.status,
    sent_at = coalesce(message.sent_at, moved.sent_at),
    delivered_at = coalesce(message.delivered_at, moved.delivered_at),
    read_at = coalesce(message.read_at, moved.read_at),
    error_code = CASE WHEN moved.status = 'failed' THEN coalesce(moved.error_code, message.error_code) END,
    error_message = CASE WHEN moved.status = 'failed' THEN coalesce(moved.error_message, message.error_message) END
FROM unnest(%s::bigint[], %s::text[], %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::text[])
    AS moved (id, status, sent_at, delivered_at, read_at, error_code, error_message)
WHERE message.id = moved.id AND (message.status <> moved.status
    OR (message.sent_at IS NULL AND moved.sent_at IS NOT NULL)
    OR (message.delivered_at IS NULL AND moved.delivered_at IS NOT NULL)
    OR (message.read_at IS NULL AND moved.read_at IS NOT NULL))
"""
# A row that the sender is claiming or recording now is skipped. The sender makes no call for a message that is no
# longer pending.
END_WAITING = """
DELETE FROM conversations_queuedmessage WHERE message_id = ANY (ARRAY (
    SELECT message_id FROM conversations_queuedmessage
    WHERE message_id = ANY (%s::bigint[]) AND (run IS NULL OR is_unknown)
    ORDER BY message_id FOR UPDATE SKIP LOCKED))
"""
SET_PROVIDER_IDS = """
UPDATE conversations_message message SET provider_message_id = named.message_id
FROM unnest(%s::bigint[], %s::text[]) AS named (id, message_id)
WHERE message.id = named.id AND message.provider_message_id IS NULL AND NOT EXISTS (
    SELECT FROM conversations_message other
    WHERE other.channel_id = message.channel_id AND other.provider_message_id = named.message_id)
"""


@dataclass(slots=True)
class StatusUpdate:
    """A locked message and its changes of status."""

    id: int
    workspace_id: int
    conversation_id: int
    status: str
    failed_with: str | None = None
    was_pending: bool = False
    steps: list[str] = field(default_factory=list)
    conflicts: int = 0
    times: dict[str, datetime] = field(default_factory=dict)
    error_code: str | None = None
    error_message: str | None = None

    def apply(self, fact: StatusChanged) -> None:
        """Apply a status, which only moves forward. Delivered and read override failed, whichever came first."""
        if fact.status == "failed":
            self._fail(fact)
        elif fact.status in RANKS:
            self._advance(fact)

    def _fail(self, fact: StatusChanged) -> None:
        if self.status in ("pending", "sent"):
            self._move("failed")
            self.failed_with = fact.error_code
            self.error_code = storable(fact.error_code)[:LONGEST_CODE] or None
            self.error_message = storable(fact.error_message)[:LONGEST_ERROR] or None
        elif self.status != "failed":
            self.conflicts += 1

    def _advance(self, fact: StatusChanged) -> None:
        if self.status == "failed" and fact.status not in PROOFS:
            self._keep_late_time(fact)
            return
        self.conflicts += self.status == "failed" and self.failed_with != OUTCOME_UNKNOWN
        self._keep_time(fact)
        if RANKS[fact.status] > RANKS.get(self.status, 0):
            self._move(fact.status)

    def _keep_late_time(self, fact: StatusChanged) -> None:
        """Store when a message with an unknown outcome was sent. It stays failed until a status proves its delivery."""
        if self.failed_with == OUTCOME_UNKNOWN:
            self._keep_time(fact)

    def _keep_time(self, fact: StatusChanged) -> None:
        """Store the time of a status, also of a late one."""
        self.times.setdefault(fact.status, fact.at)
        if fact.status == "read":
            self.times.setdefault("delivered", fact.at)

    def _move(self, status: str) -> None:
        self.was_pending |= self.status == "pending"
        self.status = status
        self.steps.append(status)

    @property
    def has_news(self) -> bool:
        return bool(self.steps or self.times)


def apply_statuses(facts: Sequence[StatusChanged], *, now: datetime) -> list[StatusChanged]:
    """Apply statuses to messages. Return the facts about messages outside conversations, for the app that sent them.

    A message is found by the provider's id, else by our own id, because a status may come before the answer to the
    sending call. The message then gets the provider's id.
    """
    if not facts:
        return []
    found, named = _find(facts)
    unknown = [fact for number, fact in enumerate(facts) if number not in found]
    for number, fact in enumerate(facts):
        update = found.get(number)
        if update is not None:
            update.apply(fact)
    messages = {id(update): update for update in found.values()}.values()
    save_statuses([update for update in messages if update.has_news], now=now)
    apply_parked_changes(named, now=now)
    conflicts = sum(update.conflicts for update in messages)
    if conflicts:
        count(CONFLICTS, conflicts)
    return unknown


def _find(facts: Sequence[StatusChanged]) -> tuple[dict[int, StatusUpdate], list[tuple[int, str]]]:
    """Return the message of each fact by the fact's index. Facts about one message share one `StatusUpdate`.

    Also return the channels and provider's ids of the messages that have just got these ids.
    """
    found: dict[int, StatusUpdate] = {}
    messages: dict[int, StatusUpdate] = {}
    named = list(enumerate(facts))
    for place, row in _rows(FIND_BY_PROVIDER_ID, named, texts([storable(fact.message_id) for fact in facts])):
        found[place] = messages.setdefault(row[0], StatusUpdate(*row))
    news: dict[int, tuple[int, str]] = {}
    ours = [(place, fact, uuid) for place, fact in named if place not in found and (uuid := parse_uuid(fact.opaque))]
    if ours:
        for place, row in _rows(FIND_BY_UUID, [one[:2] for one in ours], uuids([one[2] for one in ours])):
            found[place] = messages.setdefault(row[0], StatusUpdate(*row))
            news[row[0]] = (facts[place].channel.id, storable(facts[place].message_id))
        _set_provider_ids({message: name for message, (_, name) in news.items()})
    return found, [one for one in news.values() if one[1]]


def _rows(
    statement: str, facts: Sequence[tuple[int, StatusChanged]], ids: str
) -> Iterator[tuple[int, tuple[int, int, int, str, str | None]]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [integers([fact.channel.id for _, fact in facts]), ids])
        for number, *row in cursor.fetchall():
            yield facts[number - 1][0], tuple(row)


def _set_provider_ids(messages: dict[int, str]) -> None:
    known = {message: name for message, name in messages.items() if name}
    if known:
        with connection.cursor() as cursor:
            cursor.execute(SET_PROVIDER_IDS, [integers(known), texts(known.values())])


def save_statuses(messages: Sequence[StatusUpdate], *, now: datetime) -> None:
    """Write the new statuses of locked messages, record their events and announce the changes."""
    if not messages:
        return
    columns = [
        integers([one.id for one in messages]),
        texts([one.status for one in messages]),
        *(timestamps([one.times.get(status) for one in messages]) for status in ("sent", "delivered", "read")),
        texts([one.error_code for one in messages]),
        texts([one.error_message for one in messages]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(UPDATE_STATUSES, columns)
        settled = [one.id for one in messages if one.was_pending]
        if settled:
            cursor.execute(END_WAITING, [integers(settled)])
    moved = [one for one in messages if one.steps]
    happened: list[EventKey] = [(MESSAGE_TOPICS[step], one.workspace_id, one.id) for one in moved for step in one.steps]
    record_message_events(happened, now=now)
    announce_changes((one.workspace_id, one.conversation_id) for one in moved)


# A message may be recorded after a mark with a later time.
SLACK = timedelta(days=1)

# `at` is the reported time or that of the named message. A contact may have several identities on a channel.
FIND_READ_CONVERSATIONS = """
WITH asked AS (
    SELECT DISTINCT asked.channel_id, asked.status, coalesce(named.provider_time, asked.at) AS at,
        coalesce(named.conversation_id, conversation.id) AS conversation_id
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::timestamptz[])
        AS asked (channel_id, external_id, user_id, message_id, status, at)
    LEFT JOIN conversations_message named
        ON named.channel_id = asked.channel_id AND named.provider_message_id = asked.message_id
    LEFT JOIN contacts_contactidentity identity ON asked.message_id = '' AND identity.channel_id = asked.channel_id
        AND (identity.external_id = asked.external_id OR identity.user_id = asked.user_id)
    LEFT JOIN conversations_conversation conversation
        ON conversation.channel_id = identity.channel_id AND conversation.contact_id = identity.contact_id
    WHERE asked.message_id = '' OR named.id IS NOT NULL
), furthest AS (
    SELECT conversation_id, max(at) FILTER (WHERE status = 'read') AS read_at, max(at) AS received_at
    FROM asked WHERE conversation_id IS NOT NULL GROUP BY conversation_id
)
SELECT conversation.id, furthest.read_at, furthest.received_at,
    conversation.contact_read_up_to, conversation.contact_received_up_to
FROM furthest JOIN conversations_conversation conversation ON conversation.id = furthest.conversation_id
ORDER BY conversation.id FOR NO KEY UPDATE OF conversation
"""
UPDATE_WATERMARKS = """
UPDATE conversations_conversation conversation
SET contact_read_up_to = greatest(conversation.contact_read_up_to, marked.read_at),
    contact_received_up_to = greatest(conversation.contact_received_up_to, marked.received_at)
FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS marked (id, read_at, received_at)
WHERE conversation.id = marked.id
"""
# Messages that are not sent yet are excluded, whatever their time. A message with an unknown outcome is included once
# an echo or a status has reported it as sent.
FIND_READ_MESSAGES = """
SELECT message.id, message.workspace_id, message.conversation_id, message.status, message.provider_time
FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS marked (conversation_id, since, until)
JOIN conversations_message message ON message.conversation_id = marked.conversation_id
    AND message.provider_time <= marked.until AND (marked.since IS NULL OR message.provider_time > marked.since)
WHERE message.direction = 'out' AND (message.status IN ('sent', 'delivered')
    OR (message.status = 'failed' AND message.error_code = 'send_outcome_unknown' AND message.sent_at IS NOT NULL))
ORDER BY message.id FOR NO KEY UPDATE OF message
"""


class ReadWatermark(NamedTuple):
    """Up to when a conversation's contact has read and received our messages, with the times known before."""

    conversation: int
    read_at: datetime | None
    received_at: datetime
    known_read: datetime | None
    known_received: datetime | None

    @property
    def is_news(self) -> bool:
        return _is_after(self.read_at, self.known_read) or _is_after(self.received_at, self.known_received)

    @property
    def since(self) -> datetime | None:
        """The time after which messages may lack this mark's status. Earlier ones have it. None means all messages."""
        known = self.known_received if self.read_at is None else self.known_read
        return known - SLACK if known else None


def _is_after(moment: datetime | None, known: datetime | None) -> bool:
    return moment is not None and (known is None or moment > known)


def apply_read_watermarks(facts: Sequence[ReadUpTo], *, now: datetime) -> int:
    """Set our messages to delivered or read, up to the reported moment or message. Return how many changed."""
    marks = [mark for mark in _watermarks(facts) if mark.is_news]
    if not marks:
        return 0
    at = {mark.conversation: mark for mark in marks}
    changed = []
    for number, workspace, conversation, status, time in _messages_read(marks):
        message = StatusUpdate(number, workspace, conversation, status)
        if _apply_watermark(message, at[message.conversation_id], time):
            changed.append(message)
    save_statuses(changed, now=now)
    return len(changed)


def _watermarks(facts: Sequence[ReadUpTo]) -> list[ReadWatermark]:
    identified = [fact for fact in facts if fact.message_id or fact.person.external_id or fact.person.user_id]
    if not identified:
        return []
    columns = [
        integers([fact.channel.id for fact in identified]),
        texts([storable(fact.person.external_id) or None for fact in identified]),
        texts([storable(fact.person.user_id) or None for fact in identified]),
        texts([storable(fact.message_id) for fact in identified]),
        texts([fact.status for fact in identified]),
        timestamps([fact.at for fact in identified]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(FIND_READ_CONVERSATIONS, columns)
        return [ReadWatermark(*row) for row in cursor.fetchall()]


def _messages_read(marks: Sequence[ReadWatermark]) -> Iterable[tuple[int, int, int, str, datetime]]:
    conversations = integers([mark.conversation for mark in marks])
    with connection.cursor() as cursor:
        cursor.execute(
            UPDATE_WATERMARKS,
            [conversations, timestamps([one.read_at for one in marks]), timestamps([one.received_at for one in marks])],
        )
        cursor.execute(
            FIND_READ_MESSAGES,
            [conversations, timestamps([one.since for one in marks]), timestamps([one.received_at for one in marks])],
        )
        rows: list[tuple[int, int, int, str, datetime]] = cursor.fetchall()
    return rows


def _apply_watermark(message: StatusUpdate, mark: ReadWatermark, time: datetime) -> bool:
    """Set the message's status by the mark. Return False if it has that status or a later one already."""
    is_read = mark.read_at is not None and time <= mark.read_at
    status, at = ("read", mark.read_at) if is_read else ("delivered", mark.received_at)
    if RANKS[status] <= RANKS.get(message.status, 0) or at is None:
        return False
    message.times = {"delivered": at, status: at}
    message.status = status
    message.steps.append(status)
    return True
