"""Who has a broadcast's audience: those who prepare it, or one who removes or merges contacts; and who has which chunk.

A chunk is known by the contact before its first, the place that preparation has come to when it is the next.
"""

from typing import Any, Final, NamedTuple

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from broadcasts.models import Broadcast
from config.postgresql.advisory_locks import AdvisoryLock

NUMBERS: Final = 2**31
# Those who prepare share the audience, so a service that wants it alone waits until their chunks end.
SHARED: Final = "pg_try_advisory_xact_lock_shared(%(class)s, (id %% %(numbers)s)::int)"
ALONE: Final = "pg_advisory_xact_lock(%(class)s, (id %% %(numbers)s)::int) IS NOT NULL"
JOIN: Final = """
SELECT {audience}, pg_try_advisory_xact_lock(%(chunks)s, hashtext(id || ' ' || prepared_up_to)), prepared_up_to
FROM broadcasts_broadcast WHERE id = %(broadcast)s
"""
TAKE: Final = "SELECT pg_try_advisory_xact_lock(%s, hashtext(%s || ' ' || %s))"
END: Final = "SELECT pg_advisory_xact_lock_shared(%s, hashtext(%s || ' ' || %s))"
PATIENCE: Final = "SET LOCAL lock_timeout = 100"
NO_PATIENCE: Final = "SET LOCAL lock_timeout TO DEFAULT"
IS_WAITED_FOR: Final = """
SELECT EXISTS (SELECT FROM pg_locks own JOIN pg_locks other USING (transactionid)
    WHERE own.pid = pg_backend_pid() AND own.granted AND NOT other.granted)
"""
# One that is about to begin may be prepared before the transaction ends. Nobody waits in a circle: all who want several
# take them in one order, and a worker that prepares waits for none but those who prepare.
WAIT: Final = """
SELECT pg_advisory_xact_lock(%(class)s, (open.id %% %(numbers)s)::int)
FROM (
    SELECT id FROM broadcasts_broadcast
    WHERE workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
        AND NOT is_prepared AND (status IN ('sending', 'paused')
        OR (status = 'Scheduled' AND due_at <= statement_timestamp() + interval '1 minute'))
    ORDER BY id
) AS open
"""


class InTheWay(Exception):
    """Somebody whose end this transaction waits for waits for one of its rows."""


class Joined(NamedTuple):
    """What came of joining: whether the audience is ours, too, and whether the chunk `after` is, as of a moment ago."""

    may_prepare: bool
    is_taken: bool
    after: int


def join_preparation(broadcast: int, *, alone: bool) -> Joined | None:
    """Take a share in a broadcast's audience until the transaction ends, or wait for all of it; try the next chunk."""
    values = {
        "class": AdvisoryLock.AUDIENCE.value,
        "chunks": AdvisoryLock.AUDIENCE_CHUNK.value,
        "numbers": NUMBERS,
        "broadcast": broadcast,
    }
    row = _first(JOIN.format(audience=ALONE if alone else SHARED), values)
    return None if row is None else Joined(*row)


def take_chunk(broadcast: int, after: int) -> bool:
    """Take a chunk until the transaction ends, unless somebody else has it."""
    [is_taken] = _first(TAKE, [AdvisoryLock.AUDIENCE_CHUNK.value, broadcast, after]) or [False]
    return bool(is_taken)


def place_of(broadcast: int) -> int | None:
    """Give how far preparation has come at this moment; what was free to be taken may have been prepared meanwhile."""
    return Broadcast.objects.filter(pk=broadcast).values_list("prepared_up_to", flat=True).first()


def wait_for_end(broadcast: int, after: int) -> None:
    """Wait until the transaction that has a chunk ends. Raises `InTheWay` before the database finds a deadlock."""
    while not _has_ended(broadcast, after):
        [is_waited_for] = _first(IS_WAITED_FOR, None) or [False]
        if is_waited_for:
            raise InTheWay


def _has_ended(broadcast: int, after: int) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(PATIENCE)
            cursor.execute(END, [AdvisoryLock.AUDIENCE_CHUNK.value, broadcast, after])
            cursor.execute(NO_PATIENCE)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        return False
    return True


def hold_preparation(contact: int) -> None:
    """Let no broadcast of a contact's workspace be prepared until the transaction ends; chunks under way end first."""
    with connection.cursor() as cursor:
        cursor.execute(WAIT, {"class": AdvisoryLock.AUDIENCE.value, "numbers": NUMBERS, "contact": contact})


def _first(statement: str, values: Any) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row
