"""Applies read marks: a contact has received or read all our messages up to a moment."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from config.postgresql.arrays import integers, texts, timestamps
from workspaces.conversations.facts import ReadUpTo
from workspaces.conversations.services.inbound.statuses import RANKS, Moving, move_on
from workspaces.conversations.services.texts import storable

# A message may be recorded after a mark with a later time.
SLACK = timedelta(days=1)

# `at` is the reported time or that of the named message. A contact may have several identities on a channel.
FIND = """
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
MARK = """
UPDATE conversations_conversation conversation
SET contact_read_up_to = greatest(conversation.contact_read_up_to, marked.read_at),
    contact_received_up_to = greatest(conversation.contact_received_up_to, marked.received_at)
FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS marked (id, read_at, received_at)
WHERE conversation.id = marked.id
"""
# Messages that are not sent yet are excluded, whatever their time. A message with an unknown outcome is included once
# an echo or a status has reported it as sent.
PASSED = """
SELECT message.id, message.workspace_id, message.conversation_id, message.status, message.provider_time
FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS marked (conversation_id, since, until)
JOIN conversations_message message ON message.conversation_id = marked.conversation_id
    AND message.provider_time <= marked.until AND (marked.since IS NULL OR message.provider_time > marked.since)
WHERE message.direction = 'out' AND (message.status IN ('sent', 'delivered')
    OR (message.status = 'failed' AND message.error_code = 'send_outcome_unknown' AND message.sent_at IS NOT NULL))
ORDER BY message.id FOR NO KEY UPDATE OF message
"""


class Mark(NamedTuple):
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


def read_up_to(facts: Sequence[ReadUpTo], *, now: datetime) -> int:
    """Set our messages to delivered or read, up to the reported moment or message. Return how many changed."""
    marks = [mark for mark in _marks(facts) if mark.is_news]
    if not marks:
        return 0
    at = {mark.conversation: mark for mark in marks}
    moving = []
    for number, workspace, conversation, status, time in _passed(marks):
        message = Moving(number, workspace, conversation, status)
        if _pass(message, at[message.conversation_id], time):
            moving.append(message)
    move_on(moving, now=now)
    return len(moving)


def _marks(facts: Sequence[ReadUpTo]) -> list[Mark]:
    told = [fact for fact in facts if fact.message_id or fact.person.external_id or fact.person.user_id]
    if not told:
        return []
    columns = [
        integers([fact.channel.id for fact in told]),
        texts([storable(fact.person.external_id) or None for fact in told]),
        texts([storable(fact.person.user_id) or None for fact in told]),
        texts([storable(fact.message_id) for fact in told]),
        texts([fact.status for fact in told]),
        timestamps([fact.at for fact in told]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(FIND, columns)
        return [Mark(*row) for row in cursor.fetchall()]


def _passed(marks: Sequence[Mark]) -> Iterable[tuple[int, int, int, str, datetime]]:
    conversations = integers([mark.conversation for mark in marks])
    with connection.cursor() as cursor:
        cursor.execute(
            MARK,
            [conversations, timestamps([one.read_at for one in marks]), timestamps([one.received_at for one in marks])],
        )
        cursor.execute(
            PASSED,
            [conversations, timestamps([one.since for one in marks]), timestamps([one.received_at for one in marks])],
        )
        rows: list[tuple[int, int, int, str, datetime]] = cursor.fetchall()
    return rows


def _pass(message: Moving, mark: Mark, time: datetime) -> bool:
    """Set the message's status by the mark. Return False if it has that status or a later one already."""
    is_read = mark.read_at is not None and time <= mark.read_at
    status, at = ("read", mark.read_at) if is_read else ("delivered", mark.received_at)
    if RANKS[status] <= RANKS.get(message.status, 0) or at is None:
        return False
    message.times = {"delivered": at, status: at}
    message.status = status
    message.steps.append(status)
    return True
