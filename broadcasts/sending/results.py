"""Records the results of claimed recipients in bulk, and counts failures in a row, after which a broadcast pauses.

Rows are found by their keys in order, and recorded only for the run that holds the claim. Locks are taken in this
order: the broadcasts (if recipients wait again or broadcasts pause), the recipients, the allowance, the counts.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from django.db.backends.utils import CursorWrapper
from django.utils.translation import gettext_noop

from broadcasts import events
from broadcasts.sending import statements
from broadcasts.sending.claims import unpack_key
from broadcasts.services.counts import add_counts, release_allowance
from broadcasts.services.moving import pause_for_fault
from broadcasts.services.recipient_events import record_recipient_events
from channelconnect.providers.message_results import NOT_CONNECTED, CallResult
from channelconnect.sending.sources import UNKNOWN_SECONDS, MessageResult, project_transaction
from config.db import database_now
from config.leases.connections import Connection
from config.postgresql.arrays import decimals, integers, texts, timestamps
from workspaces.conversations.facts import storable

# After some failures in a row with the same error the broadcast pauses. A template that was changed at the provider
# fails for everybody, while each single failure looks like its recipient's.

# Error codes for a message that does not fit, because of one recipient's values or the message itself.
CONTENT_ERROR_CODES: Final = frozenset({"100", "131008", "131009", "132000", "132012"})
MOST_CONSECUTIVE_FAILURES: Final = 20
TOO_MANY_FAILURES_REASON: Final = gettext_noop(
    "20 messages in a row failed in the same way: the provider says that the message or its template does not fit. "
    "Synchronise the templates, check the message, then resume."
)

# Another error code restarts the count. So does a different result earlier in the same batch (`anew`).
ADD = """
INSERT INTO broadcasts_failurestreak AS known (broadcast_id, code, number)
SELECT told.id, told.code, told.number
FROM unnest(%(ids)s::bigint[], %(codes)s::text[], %(numbers)s::int[]) AS told (id, code, number) ORDER BY told.id
ON CONFLICT (broadcast_id) DO UPDATE SET code = excluded.code, number = excluded.number
    + CASE WHEN known.code = excluded.code AND excluded.broadcast_id <> ALL (%(anew)s::bigint[])
        THEN known.number ELSE 0 END
RETURNING broadcast_id, number
"""
# A sent message ends the streak.
END = "DELETE FROM broadcasts_failurestreak WHERE broadcast_id = ANY (%(ids)s::bigint[])"


class Streak(NamedTuple):
    """The failures at the end of a broadcast's batch. `is_anew` says that a different result came before them."""

    code: str
    number: int
    is_anew: bool


def streaks_of(results: Sequence[MessageResult]) -> dict[int, Streak]:
    """Return each broadcast's streak after these results, in the order in which their calls ended."""
    found: dict[int, Streak] = {}
    sent: defaultdict[int, bool] = defaultdict(bool)
    for one in sorted(results, key=lambda one: one.at):
        broadcast = unpack_key(one.row.id)[0]
        code = one.outcome.error.code if one.outcome.error else ""
        if one.outcome.result is CallResult.ACCEPTED:
            found.pop(broadcast, None)
            sent[broadcast] = True
        elif one.outcome.result is CallResult.REFUSED and code in CONTENT_ERROR_CODES:
            before = found.get(broadcast)
            if before is None or before.code != code:
                before = Streak(code, 0, sent[broadcast] or before is not None)
            found[broadcast] = before._replace(number=before.number + 1)
    return found


def add_to_streaks(cursor: CursorWrapper, streaks: Mapping[int, Streak]) -> list[int]:
    """Add failures to the streaks. Returns the broadcasts that reached the limit; their count restarts."""
    if not streaks:
        return []
    values = {
        "ids": integers(streaks),
        "codes": texts(one.code for one in streaks.values()),
        "numbers": integers(one.number for one in streaks.values()),
        "anew": integers(broadcast for broadcast, one in streaks.items() if one.is_anew),
    }
    cursor.execute(ADD, values)
    full = [broadcast for broadcast, number in cursor.fetchall() if number >= MOST_CONSECUTIVE_FAILURES]
    if full:
        cursor.execute(END, {"ids": integers(full)})
    return full


LONGEST_ERROR: Final = 1_000
# A fault that stops a broadcast is usually not the recipient's, so the recipient stays. After this many tries it fails.
MOST_STOPS: Final = 2


def record_results(own: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
    """Record the results of recipients. Returns how many of them this run still held or a status had settled.

    Accepted messages are nearly all of them; they are recorded over the worker's own connection.
    """
    ordered = sorted(results, key=lambda one: one.row.id)
    accepted = [one for one in ordered if one.outcome.result is CallResult.ACCEPTED]
    others = [one for one in ordered if one.outcome.result is not CallResult.ACCEPTED]
    kept = _record_sent(own, run, accepted) if accepted else 0
    return kept + (_record_others(run, others, streaks_of(results)) if others else 0)


def _record_sent(own: Connection, run: int, accepted: Sequence[MessageResult]) -> int:
    values = {
        "run": run,
        **_keys(accepted),
        "times": decimals(one.at for one in accepted),
        "ids": texts(storable(one.outcome.message_id)[:200] or None for one in accepted),
    }
    with own.transaction(), own.cursor(binary=True) as cursor:
        cursor.execute(statements.SENT, values, prepare=True)
        sent: dict[int, int] = dict(cursor.fetchall())
        kept = sum(sent.values())
        if kept < len(accepted):
            kept = _with_settled(cursor, kept, accepted)
        cursor.execute(END, {"ids": integers(sent)}, prepare=True)
        add_counts({one: {"pending": -number, "sent": number} for one, number in sent.items()}, cursor=cursor)
    return kept


def _with_settled(cursor: Any, kept: int, results: Sequence[MessageResult]) -> int:
    """Add the recipients that a status settled before their result was recorded."""
    cursor.execute(statements.SETTLED, _keys(results))
    return min(len(results), kept + int(cursor.fetchone()[0]))


def _record_others(run: int, ordered: Sequence[MessageResult], streaks: Mapping[int, Streak]) -> int:
    unknown = [one for one in ordered if one.outcome.result is CallResult.UNKNOWN]
    waiting = [one for one in ordered if one.outcome.result is CallResult.RETRY or _stays(one)]
    refused = [
        one
        for one in ordered
        if one.outcome.result in (CallResult.REFUSED, CallResult.RECONNECT, CallResult.STOPPED) and not _stays(one)
    ]
    faults = {unpack_key(one.row.id)[0]: one for one in ordered if _is_fault(one)}
    with project_transaction() as cursor:
        cursor.execute(statements.BY_KEYS)
        if waiting or faults or streaks:
            lock_broadcasts(cursor, {*faults, *streaks, *(unpack_key(one.row.id)[0] for one in waiting)})
        cursor.execute(statements.LOCK, {"run": run, **_keys(ordered)})
        taken = {(row[0], row[1]): row[2] for row in cursor.fetchall() if row[3] and row[4]}
        changes: defaultdict[int, Counter[str]] = defaultdict(Counter)
        kept = _record_unknown(cursor, run, unknown)
        kept += _put_off(cursor, run, waiting) + _fail(cursor, run, refused, changes)
        _return_allowance(cursor, (*waiting, *refused), taken)
        if kept < len(ordered):
            kept = _with_settled(cursor, kept, ordered)
        _pause(faults)
        if alike := add_to_streaks(cursor, streaks):
            pause_for_fault(alike, TOO_MANY_FAILURES_REASON, database_now())
        add_counts(changes)
    return kept


def _is_fault(one: MessageResult) -> bool:
    """Whether every other message would fail in the same way now."""
    if one.outcome.result in (CallResult.RECONNECT, CallResult.STOPPED):
        return True
    return one.outcome.error is not None and one.outcome.error.code == NOT_CONNECTED.code


def _stays(one: MessageResult) -> bool:
    return _is_fault(one) and (one.outcome.result is not CallResult.STOPPED or one.row.tries < MOST_STOPS)


def _keys(results: Iterable[MessageResult]) -> dict[str, str]:
    keys = [unpack_key(one.row.id) for one in results]
    return {"broadcasts": integers(key[0] for key in keys), "contacts": integers(key[1] for key in keys)}


def lock_broadcasts(cursor: CursorWrapper, ids: Collection[int]) -> None:
    cursor.execute(statements.LOCK_BROADCASTS, {"ids": integers(ids)})


def _return_allowance(
    cursor: CursorWrapper, unsent: Iterable[MessageResult], taken: Mapping[tuple[int, int], str | None]
) -> None:
    """Return the room taken for recipients whom no message reached; `taken` has their addresses by key."""
    channels = {unpack_key(one.row.id): one.row.channel_id for one in unsent}
    release_allowance(cursor, [(channel, taken[key]) for key, channel in channels.items() if key in taken])


def _put_off(cursor: CursorWrapper, run: int, waiting: Sequence[MessageResult]) -> int:
    if not waiting:
        return 0
    seconds = decimals(one.wait_seconds for one in waiting)
    cursor.execute(statements.PUT_OFF, {"run": run, **_keys(waiting), "seconds": seconds})
    rows = cursor.fetchall()
    lower_next_due_at(cursor, rows)
    return len(rows)


def lower_next_due_at(cursor: CursorWrapper, rows: Iterable[tuple[int, datetime]]) -> None:
    """Lower `next_due_at` to when these recipients are due. The caller has locked the broadcasts."""
    earliest: dict[int, datetime] = {}
    for broadcast, due_at in rows:
        earliest[broadcast] = min(due_at, earliest.get(broadcast, due_at))
    if earliest:
        cursor.execute(statements.LOWER_NEXT_DUE_AT, {"ids": integers(earliest), "due": timestamps(earliest.values())})


def _fail(cursor: CursorWrapper, run: int, refused: Sequence[MessageResult], changes: dict[int, Counter[str]]) -> int:
    if not refused:
        return 0
    errors = [one.outcome.error for one in refused]
    values: dict[str, int | str] = {
        "run": run,
        **_keys(refused),
        "times": timestamps(datetime.fromtimestamp(one.at, UTC) for one in refused),
        "codes": texts(error.code if error else "message_refused" for error in errors),
        "messages": texts(storable(one.outcome.sentence)[:LONGEST_ERROR] for one in refused),
        "details": texts(storable(one.outcome.details)[:LONGEST_ERROR] or None for one in refused),
    }
    cursor.execute(statements.FAILED, values)
    rows = cursor.fetchall()
    count_failed_and_notify(rows, changes, now=database_now())
    return len(rows)


def count_failed_and_notify(
    keys: Collection[tuple[int, int]], changes: Mapping[int, Counter[str]], *, now: datetime
) -> None:
    """Count pending recipients as failed, and record events for subscribers."""
    for broadcast, _ in keys:
        changes[broadcast]["failed"] += 1
        changes[broadcast]["pending"] -= 1
    record_recipient_events(events.RECIPIENT_FAILED, keys, now=now)


def _record_unknown(cursor: CursorWrapper, run: int, unknown: Sequence[MessageResult]) -> int:
    if not unknown:
        return 0
    cursor.execute(statements.MARK_UNKNOWN, {"run": run, "seconds": UNKNOWN_SECONDS, **_keys(unknown)})
    return int(cursor.rowcount)


def _pause(faults: Mapping[int, MessageResult]) -> None:
    """Pause broadcasts that cannot go on, each with the provider's reason."""
    by_reason: defaultdict[str, list[int]] = defaultdict(list)
    for broadcast, one in faults.items():
        by_reason[one.outcome.sentence].append(broadcast)
    for reason, broadcasts in by_reason.items():
        pause_for_fault(broadcasts, reason, database_now())
