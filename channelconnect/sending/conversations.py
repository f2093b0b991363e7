"""Conversations' messages, with their files, as two sources of the sender: people's go first, then automations'."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, ClassVar, Final

from django.db.backends.utils import CursorWrapper
from psycopg.rows import TupleRow

from channelconnect.providers.message_results import COMMENT_TOO_OLD, NO_ADDRESS, OUTCOME_UNKNOWN, CallResult
from channelconnect.providers.messages import OutgoingFile, OutgoingMessage, Recipient
from channelconnect.sending import allowance
from channelconnect.sending.allowance import person_key
from channelconnect.sending.queue_statements import OF_AUTOMATIONS, OF_PEOPLE, QueueStatements
from channelconnect.sending.sources import (
    UNKNOWN_SECONDS,
    ClaimedMessage,
    MessageResult,
    ReadyChannel,
    SourceState,
    project_transaction,
)
from channelconnect.services.allowance_keys import OPEN, DatabaseCursor, Key, locked_keys_of
from config.db import database_now
from config.leases.claimer import SOON_SECONDS
from config.leases.connections import Connection
from config.leases.runs import SHARDS
from config.postgresql.arrays import decimals, integers
from workspaces.conversations.models.conversations import WINDOW
from workspaces.conversations.services.content import COMMENT_REPLY, PUBLIC_REPLY
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
# Only so many automated templates of a claim ask again that soon. A mass of them would keep the sender busy.
FEW_AUTOMATED: Final = 50
ASK_LATER_SECONDS: Final = 60.0


class ConversationMessages:
    """A `MessageSource` of the `QueuedMessage` rows of people and of the system."""

    name = "conversations"
    priority = 0
    keeps_order = True
    is_automated: ClassVar = False
    statements: ClassVar[QueueStatements] = OF_PEOPLE

    def advance(self, connection: Connection) -> SourceState:
        values = {"batch": READY_BATCH, "longest": LONGEST_WAIT_SECONDS, "soon": SOON_SECONDS}
        row = connection.execute(self.statements.get_ready, values, prepare=True).fetchone()
        is_ready, is_soon, is_overdue = row or (True, True, True)
        until = monotonic() + ENDING_SECONDS
        while is_overdue and self._end_overdue() == OVERDUE_BATCH and monotonic() < until:
            pass
        return SourceState(is_ready, is_soon or is_overdue)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        values = {"shards": integers(shards), "of": SHARDS, "limit": MOST_CHANNELS}
        rows = connection.execute(self.statements.ready_channels, values, prepare=True)
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
            "needs_window": self.is_automated,
        }
        with connection.transaction(), connection.cursor(binary=True) as cursor:
            cursor.execute(self.statements.claim, values, prepare=True)
            rows = self._with_room(cursor, run, _still_pending(cursor, run, cursor.fetchall()))
            # Nothing may fail between the commit and the calls: messages claimed by then would become unknown and never
            # be sent.
            files = _files_of({row[15] for row in rows if row[15] is not None})
        return [_claimed(self.name, row, files) for row in rows]

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
        connection.execute(self.statements.free, values, prepare=True)
        return False  # one statement has freed all of them, including those that it had to wait for

    def _put_off(self, cursor: CursorWrapper, run: int, waiting: Sequence[MessageResult]) -> None:
        ids, seconds = integers(one.row.id for one in waiting), decimals(one.wait_seconds for one in waiting)
        if waiting:
            cursor.execute(SETTLED, {"ids": ids, "run": run})
        cursor.execute(PUT_OFF, {"ids": ids, "seconds": seconds})

    def _with_room(self, cursor: DatabaseCursor, run: int, rows: Sequence[TupleRow]) -> Sequence[TupleRow]:
        """Return the claimed messages without the templates for which the allowance has no room.

        Templates to people outside a window need room. Those without it are put off, and ask again before broadcasts
        may use the room that is reserved for them.
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
        given = allowance.take(cursor, asked, is_urgent=True, leaves_share=self.is_automated)
        late = [row[0] for row in counted if row[2] in keys and people[row[0]] not in given[keys[row[2]].name]]
        soon = FEW_AUTOMATED if self.is_automated else len(late)
        for ids, seconds in ((late[:soon], ASK_AGAIN_SECONDS), (late[soon:], ASK_LATER_SECONDS)):
            if ids:
                cursor.execute(WAIT_FOR_ROOM, {"ids": integers(ids), "run": run, "seconds": seconds})
        return [row for row in rows if row[0] not in set(late)] if late else rows

    def _end_overdue(self) -> int:
        """Fail messages that were unknown for too long, and drop those that a status has settled. Returns how many."""
        with project_transaction() as cursor:
            cursor.execute(self.statements.overdue, {"batch": OVERDUE_BATCH, "longest": LONGEST_WAIT_SECONDS})
            rows = cursor.fetchall()
            if rows:
                now = database_now()
                record_send_results([_never_known(row[0], now) for row in rows], now=now)
        return len(rows)


class AutomatedMessages(ConversationMessages):
    """A `MessageSource` of automations' `QueuedMessage` rows. They go behind people's, and before broadcasts."""

    name = "automations"
    priority = 5
    is_automated = True
    statements = OF_AUTOMATIONS


def _still_pending(cursor: DatabaseCursor, run: int, rows: Sequence[TupleRow]) -> Sequence[TupleRow]:
    """Return the claimed messages that are still pending. Messages that a status has settled since leave the queue."""
    settled = [row[0] for row in rows if row[11] != "pending"]
    if not settled:
        return rows
    cursor.execute(SETTLED, {"ids": integers(settled), "run": run})
    return [row for row in rows if row[11] == "pending"]


def _files_of(wanted: Collection[int]) -> Mapping[int, OutgoingFile]:
    if not wanted:
        return {}
    with project_transaction():
        return files_of(wanted)


def _claimed(source: str, row: TupleRow, files: Mapping[int, OutgoingFile]) -> ClaimedMessage:
    details = row[9] or {}
    to = Recipient(row[12], row[13], row[14])
    private, public = (_mapping(details.get(key)) for key in (COMMENT_REPLY, PUBLIC_REPLY))
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
        comment=private.get("comment") or "",
        public_comment=public.get("comment") or "",
    )
    unsendable = row[16] if message.has_address else NO_ADDRESS.code
    if private and not unsendable and not _is_before(row[18], private.get("until")):
        unsendable = COMMENT_TOO_OLD.code
    return ClaimedMessage(source, row[0], row[1], row[2], row[3], row[4], row[5], message, unsendable)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_before(now: datetime, until: Any) -> bool:
    """Return whether a time in a message's details has not come. Without a legible time it has."""
    try:
        return now < datetime.fromisoformat(until)
    except (TypeError, ValueError):
        return False


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
