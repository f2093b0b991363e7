"""Conversations' messages, with their files, as a source of the sender. They go before all others."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from channelconnect.providers.message_results import NO_ADDRESS, OUTCOME_UNKNOWN, CallResult
from channelconnect.providers.messages import OutgoingFile, OutgoingMessage, Recipient
from channelconnect.sending import allowance
from channelconnect.sending.allowance import person_key
from channelconnect.sending.sources import (
    UNKNOWN_SECONDS,
    ClaimedMessage,
    MessageResult,
    ReadyChannel,
    SourceState,
    project_transaction,
)
from channelconnect.services.allowance_keys import OPEN, Key, locked_keys_of
from config.db import database_now
from config.leases.claimer import SOON_SECONDS
from config.leases.connections import Connection
from config.leases.runs import SHARDS
from config.postgresql.arrays import decimals, integers
from workspaces.conversations.models.conversations import WINDOW
from workspaces.conversations.services.send_results import SendResult, record_send_results
from workspaces.media.models import Media

KINDS: Final = ("image", "video", "audio")


def files_of(ids: Iterable[int]) -> dict[int, OutgoingFile]:
    """Return the files of these media by their ids."""
    wanted = list(ids)
    return {media.pk: _file(media) for media in Media.objects.filter(pk__in=wanted).with_agency()} if wanted else {}


def _file(media: Media) -> OutgoingFile:
    kind = media.content_type.partition("/")[0]
    known = kind if kind in KINDS else "document"
    return OutgoingFile(kind=known, filename=media.filename, link=media.url, media=media.pk, size=media.size)


# Whether a channel's messages may be sent. It is looked up for each channel, however many others there are.
IS_ACTIVE = """(
    SELECT workspace.status = 'active' AND agency.status = 'active' FROM subaccounts_channel channel
    JOIN subaccounts_workspace workspace ON workspace.id = channel.workspace_id
    JOIN agency_agency agency ON agency.id = workspace.agency_id WHERE channel.id = {channel}
)"""
# The latest restoration of a workspace or its agency. A message that had waited for an hour by then is not sent any
# more.
RESTORED_AT = """(
    SELECT greatest(workspace.restored_at, agency.restored_at) FROM subaccounts_workspace workspace
    JOIN agency_agency agency ON agency.id = workspace.agency_id WHERE workspace.id = message.workspace_id
)"""

# Whether a message is a template that the provider now counts as marketing.
IS_MARKETING = """(message.type = 'template' AND EXISTS (
    SELECT FROM channelconnect_channelcredential credential
    JOIN channelconnect_messagetemplate template ON template.container_id = credential.container_id
    WHERE credential.channel_id = message.channel_id AND template.name = message.template ->> 'name'
        AND template.language = message.template ->> 'language' AND lower(template.category) = 'marketing'
))"""

# Makes messages ready that were put off and are due. None waits longer than `longest`, even if the clock was set back.
# It also says whether anything is ready, whether something is due soon, and whether something was unknown for too long.
GET_READY = """
WITH made AS (
    UPDATE conversations_queuedmessage SET is_ready = true, position = pg_current_xact_id()::text::bigint
    WHERE message_id = ANY (ARRAY (
        SELECT message_id FROM conversations_queuedmessage
        WHERE NOT is_ready AND NOT is_unknown AND run IS NULL
            AND due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ))
    RETURNING message_id
)
SELECT EXISTS (SELECT FROM made) OR EXISTS (SELECT FROM conversations_queuedmessage WHERE is_ready), EXISTS (
    SELECT FROM conversations_queuedmessage
    WHERE NOT is_ready AND due_at > statement_timestamp()
        AND due_at <= statement_timestamp() + make_interval(secs => %(soon)s)
), EXISTS (
    SELECT FROM conversations_queuedmessage
    WHERE NOT is_ready AND is_unknown
        AND due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
)
"""

# The channels with ready messages, without those of suspended workspaces and agencies. The walk goes over the index
# from channel to channel.
READY_CHANNELS = f"""
WITH RECURSIVE found AS (
    (SELECT agency_id, channel_id FROM conversations_queuedmessage
    WHERE is_ready ORDER BY channel_id, position, message_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM found CROSS JOIN LATERAL (
        SELECT agency_id, channel_id FROM conversations_queuedmessage
        WHERE is_ready AND channel_id > found.channel_id ORDER BY channel_id, position, message_id LIMIT 1
    ) AS next
)
SELECT agency_id, channel_id FROM found
WHERE channel_id %% %(of)s = ANY (%(shards)s::bigint[]) AND {IS_ACTIVE.format(channel="found.channel_id")}
LIMIT %(limit)s
"""  # noqa: S608  # texts of our own

# Each message is checked again: a message that a status has settled meanwhile is not sent. A contact who has opted out
# since, or was merged with one who had, gets nothing but the system's confirmation. A free text whose window has closed
# is not tried. A message needs no room in the allowance if the window stays open for as long as sending may take.
#
# Takes of each channel as many as it has room for, one message of a conversation at a time, the oldest first. While an
# earlier message is in flight or put off, later ones wait. A message with an unknown outcome holds up no other.
CLAIM = f"""
WITH self AS MATERIALIZED (
    SELECT number FROM channelconnect_senderrun WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
), picked AS MATERIALIZED (
    SELECT due.message_id FROM (
        SELECT * FROM unnest(%(channels)s::bigint[], %(rooms)s::int[]) AS asked (channel_id, room)
        WHERE {IS_ACTIVE.format(channel="asked.channel_id")}
    ) AS asked
    CROSS JOIN LATERAL (
        SELECT message_id FROM conversations_queuedmessage queued
        WHERE queued.channel_id = asked.channel_id AND queued.is_ready AND NOT EXISTS (
            SELECT FROM conversations_queuedmessage earlier
            WHERE earlier.conversation_id = queued.conversation_id AND earlier.message_id < queued.message_id
                AND NOT earlier.is_unknown)
        ORDER BY queued.position, queued.message_id LIMIT asked.room FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(batch)s
), taken AS (
    UPDATE conversations_queuedmessage SET run = %(run)s, is_ready = false, due_at = clock_timestamp()
    WHERE message_id = ANY (ARRAY (SELECT message_id FROM picked)) AND EXISTS (SELECT FROM self)
    RETURNING message_id, agency_id, channel_id, conversation_id, tries, queued_at
)
SELECT taken.message_id, taken.agency_id, taken.channel_id, conversation.contact_id, taken.tries, message.created_at,
    message.uuid::text, message.type, message.text, message.details, message.template, message.status,
    identity.external_id, identity.user_id, contact.phone, message.media_id,
    CASE WHEN taken.queued_at < {RESTORED_AT} - interval '1 hour' THEN 'workspace_suspended'
        WHEN contact.opted_out_at IS NOT NULL AND message.sent_by_kind <> 'system'
        THEN 'contact_opted_out'
        WHEN contact.marketing_opted_out_at IS NOT NULL AND {IS_MARKETING} THEN 'contact_opted_out'
        WHEN message.type <> 'template' AND conversation.last_inbound_at + %(window)s <= clock_timestamp()
        THEN 'window_closed' ELSE '' END,
    coalesce(conversation.last_inbound_at + %(open)s > clock_timestamp(), false)
FROM taken
JOIN conversations_message message ON message.id = taken.message_id
JOIN conversations_conversation conversation ON conversation.id = taken.conversation_id
JOIN contacts_contact contact ON contact.id = conversation.contact_id
LEFT JOIN LATERAL (
    SELECT external_id, user_id FROM contacts_contactidentity
    WHERE contact_id = conversation.contact_id AND channel_id = taken.channel_id ORDER BY id DESC LIMIT 1
) AS identity ON true
ORDER BY taken.message_id
"""  # noqa: S608  # texts of our own

# Messages that a status has settled meanwhile: the provider has them, whatever its answer was, or they have failed.
SETTLED = """
DELETE FROM conversations_queuedmessage queued USING conversations_message message
WHERE queued.message_id = ANY (%(ids)s::bigint[]) AND queued.run = %(run)s
    AND message.id = queued.message_id AND message.status <> 'pending'
"""

# Messages that this run still holds. That includes a run that was declared lost meanwhile: no one else has sent them.
LOCK = """
SELECT message_id FROM conversations_queuedmessage
WHERE message_id = ANY (%(ids)s::bigint[]) AND run = %(run)s ORDER BY message_id FOR UPDATE
"""

PUT_OFF = """
UPDATE conversations_queuedmessage queued SET run = NULL, is_ready = false, is_unknown = false, tries = tries + 1,
    due_at = clock_timestamp() + make_interval(secs => waiting.seconds)
FROM unnest(%(ids)s::bigint[], %(seconds)s::float8[]) AS waiting (id, seconds) WHERE queued.message_id = waiting.id
"""

# Templates without room in the allowance. They ask again soon, because room opens for them first.
WAIT_FOR_ROOM = """
UPDATE conversations_queuedmessage SET run = NULL, is_ready = false,
    due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE message_id = ANY (%(ids)s::bigint[]) AND run = %(run)s
"""

NOT_KNOWN = """
UPDATE conversations_queuedmessage
SET is_unknown = true, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE message_id = ANY (%(ids)s::bigint[]) AND NOT is_unknown
"""

GIVE_BACK = """
UPDATE conversations_queuedmessage SET run = NULL, is_ready = true, position = pg_current_xact_id()::text::bigint
WHERE message_id = ANY (%(ids)s::bigint[]) AND run = %(run)s AND NOT is_unknown
"""

FREE = """
UPDATE conversations_queuedmessage
SET is_unknown = true, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE NOT is_ready AND NOT is_unknown AND run = ANY (%(runs)s::bigint[])
"""

# Messages that were unknown for too long. Those that a status has settled meanwhile need no result.
OVERDUE = """
SELECT queued.message_id, message.status = 'pending' FROM conversations_queuedmessage queued
JOIN conversations_message message ON message.id = queued.message_id
WHERE NOT queued.is_ready AND queued.is_unknown
    AND queued.due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
ORDER BY queued.due_at LIMIT %(batch)s FOR UPDATE OF queued SKIP LOCKED
"""


NAME: Final = "conversations"
MOST_CHANNELS: Final = 2_000
READY_BATCH: Final = 2_000
OVERDUE_BATCH: Final = 500
# The time for this in each half second.
ENDING_SECONDS: Final = 0.1
# Longer than any message is put off.
LONGEST_WAIT_SECONDS: Final = 3_600 * 2
LONGEST_ERROR: Final = 1_000
# Shorter than the time for which room is reserved for them.
ASK_AGAIN_SECONDS: Final = 5.0


class ConversationMessages:
    """A `MessageSource` of `QueuedMessage` rows."""

    name = NAME
    priority = 0

    def advance(self, connection: Connection) -> SourceState:
        values = {"batch": READY_BATCH, "longest": LONGEST_WAIT_SECONDS, "soon": SOON_SECONDS}
        row = connection.execute(GET_READY, values, prepare=True).fetchone()
        is_ready, is_soon, is_overdue = row or (True, True, True)
        until = monotonic() + ENDING_SECONDS
        while is_overdue and self._end_overdue() == OVERDUE_BATCH and monotonic() < until:
            pass
        return SourceState(is_ready, is_soon or is_overdue)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        values = {"shards": integers(shards), "of": SHARDS, "limit": MOST_CHANNELS}
        rows = connection.execute(READY_CHANNELS, values, prepare=True)
        return [ReadyChannel._make(row) for row in rows]

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        values = {
            "run": run,
            "channels": integers(rooms),
            "rooms": integers(rooms.values()),
            "batch": batch,
            "window": WINDOW,
            "open": OPEN,
        }
        with connection.transaction(), connection.cursor(binary=True) as cursor:
            cursor.execute(CLAIM, values, prepare=True)
            rows = _with_room(cursor, run, _still_pending(cursor, run, cursor.fetchall()))
            # Nothing may fail between the commit and the calls: messages claimed by then would become unknown and never
            # be sent.
            files = _files_of({row[15] for row in rows if row[15] is not None})
        return [_claimed(row, files) for row in rows]

    def has_more(self, channel: int) -> bool:
        return False

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        by_id = {result.row.id: result for result in results}
        with project_transaction() as cursor:
            cursor.execute(LOCK, {"ids": integers(by_id), "run": run})
            mine = [by_id[row[0]] for row in cursor.fetchall()]
            self._put_off(cursor, run, [one for one in mine if one.outcome.result is CallResult.RETRY])
            unknown = [one.row.id for one in mine if one.outcome.result is CallResult.UNKNOWN]
            cursor.execute(NOT_KNOWN, {"ids": integers(unknown), "seconds": UNKNOWN_SECONDS})
            ended = [_ended(one) for one in mine if one.outcome.result not in (CallResult.RETRY, CallResult.UNKNOWN)]
            if ended:
                record_send_results(ended, now=database_now())
        return len(mine)

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        connection.execute(GIVE_BACK, {"run": run, "ids": integers(ids)}, prepare=True)

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        values = {"runs": integers(runs), "seconds": UNKNOWN_SECONDS}
        connection.execute(FREE, values, prepare=True)
        return False  # one statement has freed all of them, including those that it had to wait for

    def _put_off(self, cursor: Any, run: int, waiting: Sequence[MessageResult]) -> None:
        ids, seconds = integers(one.row.id for one in waiting), decimals(one.wait_seconds for one in waiting)
        if waiting:
            cursor.execute(SETTLED, {"ids": ids, "run": run})
        cursor.execute(PUT_OFF, {"ids": ids, "seconds": seconds})

    def _end_overdue(self) -> int:
        """Fail messages that were unknown for too long, and drop those that a status has settled. Returns how many."""
        with project_transaction() as cursor:
            cursor.execute(OVERDUE, {"batch": OVERDUE_BATCH, "longest": LONGEST_WAIT_SECONDS})
            rows = cursor.fetchall()
            if rows:
                now = database_now()
                record_send_results([_never_known(row[0], now) for row in rows], now=now)
        return len(rows)


def _still_pending(cursor: Any, run: int, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Return the claimed messages that are still pending. Messages that a status has settled since leave the queue."""
    settled = [row[0] for row in rows if row[11] != "pending"]
    if not settled:
        return rows
    cursor.execute(SETTLED, {"ids": integers(settled), "run": run})
    return [row for row in rows if row[11] == "pending"]


def _with_room(cursor: Any, run: int, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Return the claimed messages without the templates for which the allowance has no room.

    Templates to people outside a window need room. Those without it are put off, and ask again before broadcasts may
    use the room that is reserved for them.
    """
    counted = [row for row in rows if row[7] == "template" and not row[16] and not row[17]]
    if not counted:
        return rows
    keys = locked_keys_of(cursor, {row[2] for row in counted})
    asked: defaultdict[Key, list[str]] = defaultdict(list)
    people = {row[0]: person_key(row[12] or row[14] or row[13] or "") for row in counted}
    for row in counted:
        if row[2] in keys:
            asked[keys[row[2]]].append(people[row[0]])
    given = allowance.take(cursor, asked, is_urgent=True)
    late = {row[0] for row in counted if row[2] in keys and people[row[0]] not in given[keys[row[2]].name]}
    if not late:
        return rows
    cursor.execute(WAIT_FOR_ROOM, {"ids": integers(late), "run": run, "seconds": ASK_AGAIN_SECONDS})
    return [row for row in rows if row[0] not in late]


def _files_of(wanted: Collection[int]) -> Mapping[int, OutgoingFile]:
    if not wanted:
        return {}
    with project_transaction():
        return files_of(wanted)


def _claimed(row: Sequence[Any], files: Mapping[int, OutgoingFile]) -> ClaimedMessage:
    details = row[9] or {}
    to = Recipient(row[12], row[13], row[14])
    message = OutgoingMessage(
        opaque=row[6],
        to=to,
        type=row[7],
        text=row[8],
        file=files.get(row[15]),
        template=row[10],
        interactive=details.get("interactive"),
        reply_to=details.get("reply_to") or "",
        reaction_to=details.get("reaction_to") or "",
    )
    unsendable = row[16] if to.is_reachable else NO_ADDRESS.code
    return ClaimedMessage(NAME, row[0], row[1], row[2], row[3], row[4], row[5], message, unsendable)


def _ended(one: MessageResult) -> SendResult:
    at = datetime.fromtimestamp(one.at, UTC)
    if one.outcome.result is CallResult.ACCEPTED:
        return SendResult(message=one.row.id, status="sent", at=at, provider_message_id=one.outcome.message_id)
    error = one.outcome.error
    return SendResult(
        message=one.row.id,
        status="failed",
        at=at,
        error_code=error.code if error else "message_refused",
        error_message=one.outcome.sentence[:LONGEST_ERROR],
    )


def _never_known(message: int, now: datetime) -> SendResult:
    return SendResult(
        message=message,
        status="failed",
        at=now,
        error_code=OUTCOME_UNKNOWN.code,
        error_message=OUTCOME_UNKNOWN.sentence,
    )
