"""How far contacts have got: everything of ours up to a moment was received, or read."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from config.leases.arrays import integers, moments, texts
from workspaces.conversations.facts import ReadUpTo
from workspaces.conversations.services.inbound.statuses import RANKS, Moving, move_on
from workspaces.conversations.services.texts import storable

# A message may have been recorded after the mark that passed it.
SLACK = timedelta(days=1)

# Until when: told, or the time of the message that was named. A contact may be several persons on a channel.
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
# What is still to be sent is nobody's to read, whatever its time. A message whose outcome was unknown counts once an
# echo has said that it left.
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
    """Until when a conversation's contact has read and received what we sent, and until when that was known before."""

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
        """From when on messages may still lack what this mark says: what came before has it."""
        known = self.known_received if self.read_at is None else self.known_read
        return known - SLACK if known else None


def _is_after(moment: datetime | None, known: datetime | None) -> bool:
    return moment is not None and (known is None or moment > known)


def read_up_to(facts: Sequence[ReadUpTo], *, now: datetime) -> int:
    """Move on all of ours that contacts have received or read, up to a moment or a message; says how many moved."""
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
        moments([fact.at for fact in told]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(FIND, columns)
        return [Mark(*row) for row in cursor.fetchall()]


def _passed(marks: Sequence[Mark]) -> Iterable[tuple[int, int, int, str, datetime]]:
    conversations = integers([mark.conversation for mark in marks])
    with connection.cursor() as cursor:
        cursor.execute(
            MARK, [conversations, moments([one.read_at for one in marks]), moments([one.received_at for one in marks])]
        )
        cursor.execute(
            PASSED, [conversations, moments([one.since for one in marks]), moments([one.received_at for one in marks])]
        )
        rows: list[tuple[int, int, int, str, datetime]] = cursor.fetchall()
    return rows


def _pass(message: Moving, mark: Mark, time: datetime) -> bool:
    """Move a message to what the mark says of its time; False where it has come as far already."""
    is_read = mark.read_at is not None and time <= mark.read_at
    status, at = ("read", mark.read_at) if is_read else ("delivered", mark.received_at)
    if RANKS[status] <= RANKS.get(message.status, 0) or at is None:
        return False
    message.times = {"delivered": at, status: at}
    message.status = status
    message.steps.append(status)
    return True
