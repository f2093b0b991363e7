"""Applies echoes: the network's reports of messages that the account sent, through us or another app."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from config.api.requests import parse_uuid
from config.postgresql.arrays import integers, texts, timestamps, uuids
from workspaces.conversations.facts import EchoReceived, StatusChanged
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.inbound.activity import activities_of, apply_activities, in_order_of_arrival
from workspaces.conversations.services.inbound.changes import apply_parked_changes
from workspaces.conversations.services.inbound.messages import draft_of, write_files, write_messages
from workspaces.conversations.services.inbound.people import conversations_of_people
from workspaces.conversations.services.inbound.statuses import advance_statuses
from workspaces.conversations.services.recording import OPENED, record_conversation_events
from workspaces.conversations.services.texts import storable

# A message of ours is found by the network's id, else by our own. It gets the network's time, which read marks are
# compared with.
OURS = """
WITH told AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::uuid[], %s::timestamptz[]) WITH ORDINALITY
        AS told (channel_id, message_id, uuid, at, number)
), known AS (
    SELECT told.number, message.id FROM told JOIN conversations_message message
        ON message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
), ours AS (
    SELECT told.number, message.id FROM told JOIN conversations_message message
        ON message.uuid = told.uuid AND message.channel_id = told.channel_id AND message.direction = 'out'
    WHERE NOT EXISTS (SELECT FROM known WHERE known.number = told.number)
), found AS (
    SELECT * FROM known UNION SELECT * FROM ours
), held AS (
    SELECT message.id, told.message_id, told.at FROM (
        SELECT id, min(number) AS number FROM found GROUP BY id
    ) AS each
    JOIN told ON told.number = each.number JOIN conversations_message message ON message.id = each.id
    WHERE message.direction = 'out' AND NOT message.sent_elsewhere
        AND (message.provider_time <> told.at OR message.provider_message_id IS NULL)
    ORDER BY message.id FOR NO KEY UPDATE OF message
), timed AS (
    UPDATE conversations_message message
    SET provider_time = held.at, provider_message_id = coalesce(message.provider_message_id, held.message_id)
    FROM held WHERE message.id = held.id
)
SELECT found.number - 1, bool_or(message.direction = 'out'
    AND (message.status = 'pending' OR message.error_code = 'send_outcome_unknown'))
FROM found JOIN conversations_message message ON message.id = found.id GROUP BY found.number
"""


def record_echoes(facts: Sequence[EchoReceived], *, now: datetime) -> int:
    """Record messages that accounts sent. Return how many new messages came from another app.

    Our messages get the network's time, and its id if it is missing. Pending ones become sent; those with an unknown
    outcome get the time at which they were sent. The others are stored as outgoing messages with `sent_elsewhere`. They
    do not change the conversation's unread count or status.
    """
    known = _tell_ours(facts)
    advance_statuses([_sent(facts[place]) for place, is_news in sorted(known.items()) if is_news], now=now)
    apply_parked_changes([(facts[one].channel.id, storable(facts[one].message_id)) for one in known], now=now)
    foreign = [fact for number, fact in enumerate(facts) if number not in known]
    if not foreign:
        return 0
    threads = conversations_of_people(foreign, now=now, are_theirs=False)
    drafts = [draft_of(one, fact.message_id, fact.type, fact.text, fact.details, fact.at) for fact, one in threads]
    written = write_messages(drafts, direction="out", now=now)
    conversations = [one for _, one in threads]
    activities = activities_of((one.conversation for one in written.values()), beside=conversations)
    for message in written.values():
        activities[message.conversation.id].add(message)
    apply_activities(in_order_of_arrival(activities, conversations, now=now), now=now)
    files: Mapping[Any, Any] = {(fact.channel.id, fact.message_id): fact.file for fact in foreign if fact.file}
    write_files([(message, files[key]) for key, message in written.items() if key in files], now=now)
    apply_parked_changes(written, now=now)
    new = {one.id: one for _, one in threads if one.is_new}
    record_conversation_events([(OPENED, one.workspace_id, one.id) for one in new.values()], now=now)
    announce_changes((one.conversation.workspace_id, one.conversation.id) for one in written.values())
    return len(written)


def _sent(fact: EchoReceived) -> StatusChanged:
    """Return the status that an echo proves for our message, whatever answer the sending call got."""
    return StatusChanged(
        channel=fact.channel,
        person=fact.person,
        at=fact.at,
        message_id=fact.message_id,
        status="sent",
        opaque=fact.opaque,
    )


def _tell_ours(facts: Sequence[EchoReceived]) -> dict[int, bool]:
    """Find the facts about known messages. Return for each index whether it is news that the message was sent."""
    if not facts:
        return {}
    opaque: list[UUID | None] = [parse_uuid(fact.opaque) for fact in facts]
    columns = [
        integers([fact.channel.id for fact in facts]),
        texts([storable(fact.message_id) for fact in facts]),
        uuids(opaque),
        timestamps([fact.at for fact in facts]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(OURS, columns)
        return dict(cursor.fetchall())
