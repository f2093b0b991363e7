"""Applies the statuses of sent messages. They only move forward, in whatever order they come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from config.api.requests import parse_uuid
from config.metrics import count
from config.postgresql.arrays import integers, texts, timestamps, uuids
from workspaces.conversations.facts import StatusChanged
from workspaces.conversations.models.messages import OUTCOME_UNKNOWN
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.inbound.changes import apply_parked_changes
from workspaces.conversations.services.recording import MESSAGE_TOPICS, Happened, record_message_events
from workspaces.conversations.services.texts import storable

RANKS = {"pending": 0, "sent": 1, "delivered": 2, "read": 3}
PROOFS = ("delivered", "read")
CONFLICTS = "message_status_conflicts_total"
LONGEST_CODE, LONGEST_ERROR = 60, 1_000

FIND = """
SELECT asked.number, message.id, message.workspace_id, message.conversation_id, message.status, message.error_code
FROM unnest(%s::bigint[], %s::text[]) WITH ORDINALITY AS asked (channel_id, message_id, number)
JOIN conversations_message message
    ON message.channel_id = asked.channel_id AND message.provider_message_id = asked.message_id
WHERE message.direction = 'out'
ORDER BY message.id FOR NO KEY UPDATE OF message
"""
FIND_OPAQUE = """
SELECT asked.number, message.id, message.workspace_id, message.conversation_id, message.status, message.error_code
FROM unnest(%s::bigint[], %s::uuid[]) WITH ORDINALITY AS asked (channel_id, uuid, number)
JOIN conversations_message message ON message.uuid = asked.uuid AND message.channel_id = asked.channel_id
WHERE message.direction = 'out'
ORDER BY message.id FOR NO KEY UPDATE OF message
"""
# A status fills the times that are still empty, including those of earlier statuses that are missing.
ADVANCE = """
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
NAME = """
UPDATE conversations_message message SET provider_message_id = named.message_id
FROM unnest(%s::bigint[], %s::text[]) AS named (id, message_id)
WHERE message.id = named.id AND message.provider_message_id IS NULL AND NOT EXISTS (
    SELECT FROM conversations_message other
    WHERE other.channel_id = message.channel_id AND other.provider_message_id = named.message_id)
"""


@dataclass(slots=True)
class Moving:
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

    def tell(self, fact: StatusChanged) -> None:
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


def advance_statuses(facts: Sequence[StatusChanged], *, now: datetime) -> list[StatusChanged]:
    """Apply statuses to messages. Return the facts about messages outside conversations, for the app that sent them.

    A message is found by the provider's id, else by our own id, because a status may come before the answer to the
    sending call. The message then gets the provider's id.
    """
    if not facts:
        return []
    found, named = _find(facts)
    unknown = [fact for number, fact in enumerate(facts) if number not in found]
    for number, fact in enumerate(facts):
        moving = found.get(number)
        if moving is not None:
            moving.tell(fact)
    messages = {id(moving): moving for moving in found.values()}.values()
    move_on([moving for moving in messages if moving.has_news], now=now)
    apply_parked_changes(named, now=now)
    conflicts = sum(moving.conflicts for moving in messages)
    if conflicts:
        count(CONFLICTS, conflicts)
    return unknown


def _find(facts: Sequence[StatusChanged]) -> tuple[dict[int, Moving], list[tuple[int, str]]]:
    """Return the message of each fact by the fact's index. Facts about one message share one `Moving`.

    Also return the channels and provider's ids of the messages that have just got these ids.
    """
    found: dict[int, Moving] = {}
    messages: dict[int, Moving] = {}
    named = list(enumerate(facts))
    for place, row in _rows(FIND, named, texts([storable(fact.message_id) for fact in facts])):
        found[place] = messages.setdefault(row[0], Moving(*row))
    news: dict[int, tuple[int, str]] = {}
    ours = [(place, fact, uuid) for place, fact in named if place not in found and (uuid := parse_uuid(fact.opaque))]
    if ours:
        for place, row in _rows(FIND_OPAQUE, [one[:2] for one in ours], uuids([one[2] for one in ours])):
            found[place] = messages.setdefault(row[0], Moving(*row))
            news[row[0]] = (facts[place].channel.id, storable(facts[place].message_id))
        _name({message: name for message, (_, name) in news.items()})
    return found, [one for one in news.values() if one[1]]


def _rows(
    statement: str, facts: Sequence[tuple[int, StatusChanged]], ids: str
) -> Iterator[tuple[int, tuple[int, int, int, str, str | None]]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [integers([fact.channel.id for _, fact in facts]), ids])
        for number, *row in cursor.fetchall():
            yield facts[number - 1][0], tuple(row)


def _name(messages: dict[int, str]) -> None:
    told = {message: name for message, name in messages.items() if name}
    if told:
        with connection.cursor() as cursor:
            cursor.execute(NAME, [integers(told), texts(told.values())])


def move_on(messages: Sequence[Moving], *, now: datetime) -> None:
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
        cursor.execute(ADVANCE, columns)
        settled = [one.id for one in messages if one.was_pending]
        if settled:
            cursor.execute(END_WAITING, [integers(settled)])
    moved = [one for one in messages if one.steps]
    happened: list[Happened] = [(MESSAGE_TOPICS[step], one.workspace_id, one.id) for one in moved for step in one.steps]
    record_message_events(happened, now=now)
    announce_changes((one.workspace_id, one.conversation_id) for one in moved)
