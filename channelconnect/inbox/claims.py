"""SQL statements that store callbacks, begin a reading of several, end it, and detect that it failed.

A reading's row is committed before the reading's transaction begins, and that transaction deletes it. So a body that
kills its reader is detected too, not only one that raises. Notices of a failed reading are read again in smaller
batches.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final

from django.db import connection
from django.db.backends.utils import CursorWrapper

from channelconnect.models.inbox import MOST_TRIES
from config.celery import wake_up_now
from config.celery.tasks import DueWork, due_among

MOST_BODIES: Final = 2_000
# About two thousand statuses or messages. At this size a statement costs least for each of them.
MOST_BYTES: Final = 1_000_000
FEW_BODIES: Final = 50
# A reader may have committed its reading's row and not begun yet, so a younger row does not count as dead.
DEAD_AFTER_SECONDS: Final = 10
LONGEST_FAULT: Final = 200

BEGIN = """
INSERT INTO channelconnect_readingattempt (notices, begun_at)
SELECT array_agg(id ORDER BY id), statement_timestamp() FROM (
    SELECT id, sum(size) OVER (ORDER BY id) - size AS before FROM (
        SELECT id, octet_length(body) AS size FROM channelconnect_providernotice
        WHERE read_at IS NULL AND {which} ORDER BY {order} LIMIT %(most)s) AS unread) AS sized
WHERE before < %(bytes)s HAVING count(*) > 0 RETURNING id, notices
"""
TO_READ_AGAIN = "tries = 1 AND due_at <= statement_timestamp()"
TO_READ_ALONE = f"tries BETWEEN 2 AND {MOST_TRIES - 1} AND due_at <= statement_timestamp()"
NEW = BEGIN.format(which="tries = 0 AND id > %(after)s", order="id")
AGAIN = BEGIN.format(which=TO_READ_AGAIN, order="due_at, id")
ALONE = BEGIN.format(which=TO_READ_ALONE, order="due_at, id")
TAKE = "DELETE FROM channelconnect_readingattempt WHERE id = %s"
# Beginning a reading locks nothing, so two readers may begin with the same notices. The second leaves them to the first
# and goes on with later ones.
READ = """
UPDATE channelconnect_providernotice AS notice SET read_at = %(now)s, fault = '' FROM (
    SELECT id FROM channelconnect_providernotice WHERE id = ANY (%(ids)s) AND read_at IS NULL
    ORDER BY id FOR UPDATE SKIP LOCKED) AS mine
WHERE notice.id = mine.id RETURNING notice.id, notice.received_at, notice.body
"""
# At the third try a notice is read alone for the first time; later tries wait. A failure that only comes from others'
# locks never counts towards giving a notice up.
FAILED = """
UPDATE channelconnect_providernotice SET fault = %(fault)s,
    tries = CASE WHEN %(passing)s THEN greatest(tries, least(tries + 1, 2)) ELSE tries + 1 END,
    due_at = statement_timestamp() + CASE
        WHEN %(passing)s THEN interval '2 s' WHEN tries < 2 THEN interval '0' WHEN tries = 2 THEN interval '1 min'
        ELSE interval '30 min' END
WHERE id = ANY (%(ids)s) AND read_at IS NULL
"""
IS_ANY_DEAD = f"""
SELECT id FROM channelconnect_readingattempt
WHERE begun_at < statement_timestamp() - interval '{DEAD_AFTER_SECONDS} s' LIMIT 1
"""  # noqa: S608  # a number of our own
DEAD = """
DELETE FROM channelconnect_readingattempt WHERE id IN (
    SELECT id FROM channelconnect_readingattempt
    WHERE begun_at < statement_timestamp() - make_interval(secs => %s) FOR UPDATE SKIP LOCKED)
RETURNING notices
"""
FIRST = "SELECT id FROM channelconnect_providernotice WHERE read_at IS NULL AND {which} ORDER BY {order} LIMIT 1"
WORK: Final = (
    DueWork(
        "to read",
        (
            FIRST.format(which="tries = 0", order="id"),
            FIRST.format(which=TO_READ_AGAIN, order="due_at, id"),
            FIRST.format(which=TO_READ_ALONE, order="due_at, id"),
        ),
    ),
    DueWork("dead", (IS_ANY_DEAD,)),
)
MARK = "UPDATE channelconnect_providernotice SET fault = %s WHERE id = %s"


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """Notices that are read together."""

    id: int
    notices: list[int]


@dataclass(frozen=True, slots=True)
class Body:
    """A notice as it came."""

    id: int
    received_at: datetime
    content: bytes


def is_anything_waiting() -> bool:
    """Say whether a notice waits to be read or a reader has died. One statement without a transaction."""
    return bool(due_among(WORK))


def begin_new(*, after: int) -> ReadBatch | None:
    """Begin a reading of the oldest notices that no reader has tried, with ids above `after`."""
    return _begin(NEW, most=MOST_BODIES, after=after)


def begin_again() -> ReadBatch | None:
    """Begin a reading of a few notices whose first reading failed."""
    return _begin(AGAIN, most=FEW_BODIES)


def begin_alone() -> ReadBatch | None:
    """Begin a reading of one notice whose reading in a small batch failed too."""
    return _begin(ALONE, most=1)


def _begin(statement: str, **values: int) -> ReadBatch | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"bytes": MOST_BYTES, **values})
        found = cursor.fetchone()
    return ReadBatch(*found) if found else None


def mark_read(reading: ReadBatch, *, now: datetime) -> list[Body]:
    """Mark a reading's notices as read in the caller's transaction, and return them; empty if others have them."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [reading.id])
        if not cursor.rowcount:
            return []
        cursor.execute(READ, {"now": now, "ids": reading.notices})
        return [Body(*found) for found in sorted(cursor.fetchall(), key=itemgetter(0))]


def mark_unreadable(faults: dict[int, str]) -> None:
    """Record why these notices are not valid JSON."""
    with connection.cursor() as cursor:
        for key, fault in faults.items():
            cursor.execute(MARK, [fault, key])


def give_back(reading: ReadBatch, *, fault: str, is_passing: bool = False) -> None:
    """End a failed reading. Its notices are read again in smaller batches."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [reading.id])
        if cursor.rowcount:
            _fail(cursor, reading.notices, fault, is_passing)


def end_abandoned_readings(*, seconds: int = DEAD_AFTER_SECONDS) -> int:
    """End abandoned readings, whose readers died. Returns how many notices they had."""
    with connection.cursor() as cursor:
        cursor.execute(DEAD, [seconds])
        ids = [key for (notices,) in cursor.fetchall() for key in notices]
        if ids:
            _fail(cursor, ids, "The reader died.", False)
    return len(ids)


def _fail(cursor: CursorWrapper, ids: list[int], fault: str, is_passing: bool) -> None:
    cursor.execute(FAILED, {"ids": ids, "fault": fault[:LONGEST_FAULT], "passing": is_passing})


WAKE_UP = "inbox"
STORE = """
INSERT INTO channelconnect_providernotice (received_at, digest, body, tries, fault)
VALUES (statement_timestamp(), %s, %s, 0, '') ON CONFLICT (digest) DO NOTHING RETURNING id
"""


def store_notice(*, body: bytes) -> bool:
    """Store a signed callback with one statement that commits at once. False if the same body came before."""
    with connection.cursor() as cursor:
        cursor.execute(STORE, [hashlib.sha256(body).digest(), body])
        is_new = cursor.fetchone() is not None
    if is_new:
        wake_up_now(WAKE_UP)
    return is_new
