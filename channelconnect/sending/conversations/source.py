"""Conversations' messages as a source of the sender. They go before all others."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from channelconnect.providers.messages import OUTCOME_UNKNOWN, CallResult, OutgoingFile, OutgoingMessage, Recipient
from channelconnect.providers.messages.errors import NO_ADDRESS
from channelconnect.sending.claiming import allowance
from channelconnect.sending.claiming.allowance import person_key
from channelconnect.sending.conversations import statements
from channelconnect.sending.conversations.files import files_of
from channelconnect.sending.sources import UNKNOWN_SECONDS, ClaimedMessage, Coming, ReadyChannel, Sent
from channelconnect.sending.transactions import project_transaction
from channelconnect.services.allowance_keys import OPEN, Key, locked_keys_of
from config.db import database_now
from config.leases.claimer import SOON_SECONDS
from config.leases.connections import Connection
from config.leases.runs import SHARDS
from config.postgresql.arrays import decimals, integers
from workspaces.conversations.models.conversations import WINDOW
from workspaces.conversations.services.send_results import SendResult, record_send_results

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

    def advance(self, connection: Connection) -> Coming:
        values = {"batch": READY_BATCH, "longest": LONGEST_WAIT_SECONDS, "soon": SOON_SECONDS}
        row = connection.execute(statements.GET_READY, values, prepare=True).fetchone()
        is_ready, is_soon, is_overdue = row or (True, True, True)
        until = monotonic() + ENDING_SECONDS
        while is_overdue and self._end_overdue() == OVERDUE_BATCH and monotonic() < until:
            pass
        return Coming(is_ready, is_soon or is_overdue)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        values = {"shards": integers(shards), "of": SHARDS, "limit": MOST_CHANNELS}
        rows = connection.execute(statements.READY_CHANNELS, values, prepare=True)
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
            cursor.execute(statements.CLAIM, values, prepare=True)
            rows = _with_room(cursor, run, _still_pending(cursor, run, cursor.fetchall()))
            # Nothing may fail between the commit and the calls: messages claimed by then would become unknown and never
            # be sent.
            files = _files_of({row[15] for row in rows if row[15] is not None})
        return [_claimed(row, files) for row in rows]

    def has_more(self, channel: int) -> bool:
        return False

    def record(self, connection: Connection, *, run: int, results: Sequence[Sent]) -> int:
        by_id = {result.row.id: result for result in results}
        with project_transaction() as cursor:
            cursor.execute(statements.LOCK, {"ids": integers(by_id), "run": run})
            mine = [by_id[row[0]] for row in cursor.fetchall()]
            self._put_off(cursor, run, [one for one in mine if one.outcome.result is CallResult.RETRY])
            unknown = [one.row.id for one in mine if one.outcome.result is CallResult.UNKNOWN]
            cursor.execute(statements.NOT_KNOWN, {"ids": integers(unknown), "seconds": UNKNOWN_SECONDS})
            ended = [_ended(one) for one in mine if one.outcome.result not in (CallResult.RETRY, CallResult.UNKNOWN)]
            if ended:
                record_send_results(ended, now=database_now())
        return len(mine)

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        connection.execute(statements.GIVE_BACK, {"run": run, "ids": integers(ids)}, prepare=True)

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        values = {"runs": integers(runs), "seconds": UNKNOWN_SECONDS}
        connection.execute(statements.FREE, values, prepare=True)
        return False  # one statement has freed all of them, including those that it had to wait for

    def _put_off(self, cursor: Any, run: int, waiting: Sequence[Sent]) -> None:
        ids, seconds = integers(one.row.id for one in waiting), decimals(one.wait_seconds for one in waiting)
        if waiting:
            cursor.execute(statements.SETTLED, {"ids": ids, "run": run})
        cursor.execute(statements.PUT_OFF, {"ids": ids, "seconds": seconds})

    def _end_overdue(self) -> int:
        """Fail messages that were unknown for too long, and drop those that a status has settled. Returns how many."""
        with project_transaction() as cursor:
            cursor.execute(statements.OVERDUE, {"batch": OVERDUE_BATCH, "longest": LONGEST_WAIT_SECONDS})
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
    cursor.execute(statements.SETTLED, {"ids": integers(settled), "run": run})
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
    cursor.execute(statements.WAIT_FOR_ROOM, {"ids": integers(late), "run": run, "seconds": ASK_AGAIN_SECONDS})
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


def _ended(one: Sent) -> SendResult:
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
