"""Advisory locks on a broadcast's audience and on its chunks.

Connections that prepare a broadcast share its audience. A service that removes or merges contacts has it alone. A chunk
is named by the id of the contact before its first; for the next chunk that is `prepared_up_to`.
"""

from typing import Any, Final, NamedTuple

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from broadcasts.models import Broadcast
from config.postgresql.advisory_locks import AdvisoryLock

NUMBERS: Final = 2**31
# Preparation shares the lock, so a service that wants it alone waits until the chunks end.
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
# A broadcast that is about to begin may be prepared before the transaction ends, so it is included. These locks cannot
# deadlock: services that need several take them in the same order, and preparation waits only for other preparation.
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
    """The transaction that this one waits for is waiting for a row of this one."""


class Joined(NamedTuple):
    """The result of `join_preparation`: whether it shares the audience, and whether it has the chunk after `after`."""

    may_prepare: bool
    is_taken: bool
    after: int


def join_preparation(broadcast: int, *, alone: bool) -> Joined | None:
    """Share a broadcast's audience until the transaction ends, or wait for all of it. Also try to take a chunk."""
    values = {
        "class": AdvisoryLock.AUDIENCE.value,
        "chunks": AdvisoryLock.AUDIENCE_CHUNK.value,
        "numbers": NUMBERS,
        "broadcast": broadcast,
    }
    row = _first(JOIN.format(audience=ALONE if alone else SHARED), values)
    return None if row is None else Joined(*row)


def take_chunk(broadcast: int, after: int) -> bool:
    """Take a chunk until the transaction ends. False if another transaction has it."""
    [is_taken] = _first(TAKE, [AdvisoryLock.AUDIENCE_CHUNK.value, broadcast, after]) or [False]
    return bool(is_taken)


def place_of(broadcast: int) -> int | None:
    """Return how far preparation has come now. A chunk that was free may have been prepared meanwhile."""
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
    """Stop preparing broadcasts of a contact's workspace until the transaction ends. Chunks under way end first."""
    with connection.cursor() as cursor:
        cursor.execute(WAIT, {"class": AdvisoryLock.AUDIENCE.value, "numbers": NUMBERS, "contact": contact})


def _first(statement: str, values: Any) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row
