"""What the dispatcher asks of the database: the statements with their values.

A lease names the run that holds it, and only that run's record is taken, so a dispatcher that comes back late
cannot overwrite what another one has done since.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from config.leases.arrays import integers
from config.leases.claimer import SOON_SECONDS
from config.leases.connection import Connection
from config.leases.runs import WorkerRuns
from config.leases.shards import SHARDS
from config.leases.transactions import ReadTransactions
from config.postgresql.advisory_locks import AdvisoryLock
from webhooks.dispatcher import statements
from webhooks.services.queueing import AGENCY_SUSPENDED

MOST_LOST_LEASES = 10
SUSPICIOUS_LEASES = 2
SUSPECTS = 256
READY_BATCH = 5_000
FREE_PAGE = 20_000
JITTER = 0.2
# What became due so long ago has been made ready by an earlier statement, however late that was committed.
LATE_SECONDS = 60
ALL_SECONDS = 10**9
# Longer than any attempt is put off with standard retries; what waits longer is marked, and waits no longer than a day.
LONGEST_SHORT_WAIT_SECONDS = 200.0
LONGEST_WAIT_SECONDS = 300
LONGEST_OF_LONG_SECONDS = 90_000


class LeasedDelivery(NamedTuple):
    """A delivery that this dispatcher has leased; `body` is missing where somebody removed its event.

    With `is_of_suspended` its agency was suspended when it was leased.
    """

    id: int
    agency_id: int
    workspace_id: int | None
    endpoint_id: int
    attempts: int
    max_attempts: int
    is_suspect: bool
    event: str
    envelope_id: str
    body: bytes | None
    is_of_suspended: bool = False


class EndpointSnapshot(NamedTuple):
    """What the dispatcher must know of an endpoint; the secrets are still encrypted.

    The secret before the present one signs as well until `previous_secret_until`, `previous_secret_seconds` from when
    this was read.
    """

    endpoint_id: int
    uuid: UUID
    url: str
    secret: bytes | None
    previous_secret: bytes | None
    previous_secret_until: datetime | None
    is_open: bool
    is_removed: bool
    previous_secret_seconds: float | None
    succeeded_last: bool


class Capacity(NamedTuple):
    """What a dispatcher can lease.

    `rooms` is how many more for an endpoint, `first` for one that is not among them; `busy` are endpoints of which
    something is leased, `slow` those of them that take long. `full_agencies`, with all their workspaces, and
    `full_tenants` (see `tenant_number`) get nothing now. `suspects` is how many of those are leased.
    """

    batch: int
    first: int
    rooms: Mapping[int, int]
    busy: Collection[int]
    slow: Iterable[int]
    full_agencies: Iterable[int]
    full_tenants: Iterable[int]
    suspects: int


NO_CAPACITY = Capacity(0, 0, {}, (), (), (), (), 0)


class Asked(NamedTuple):
    """So many of an endpoint's ready deliveries that come after a place in its queue."""

    endpoint_id: int
    room: int
    position: int
    delivery_id: int


class Claimed(NamedTuple):
    """A delivery with its place in the endpoint's queue."""

    position: int
    row: LeasedDelivery


class Coming(NamedTuple):
    """How many deliveries were made ready, and whether others are due within `SOON_SECONDS`, or suspects wait."""

    made: int
    is_soon: bool
    has_suspects: bool


def tenant_number(agency_id: int, workspace_id: int | None) -> int:
    """A tenant as one number: the workspace's, or for an agency's own the agency's, negative."""
    return -agency_id if workspace_id is None else workspace_id


def execute(connection: Connection, statement: LiteralString, **values: Any) -> int:
    """Execute a statement, prepared at its first use; says how many rows it touched."""
    return connection.execute(statement, values, prepare=True).rowcount


def free(connection: Connection, runs: Iterable[int], after: int, died: bool) -> int | None:
    """Free what was leased to runs that have ended, see `config.leases.runs`; what was so too often is given up."""
    values = {
        "runs": integers(runs),
        "after": after,
        "died": int(died),
        "page": FREE_PAGE,
        "most": MOST_LOST_LEASES,
        "suspicious": SUSPICIOUS_LEASES,
    }
    row = connection.execute(statements.FREE, values, prepare=True).fetchone()
    return int(row[0]) if row else None


RUNS = WorkerRuns(table="webhooks_dispatcherrun", presence=AdvisoryLock.DISPATCHER_RUN.value, free=free)


def get_ready(connection: Connection, *, late_seconds: int = LATE_SECONDS) -> Coming:
    """Mark the queued deliveries whose time has come, at most so long ago; says what else is to come."""
    values = {"batch": READY_BATCH, "late": late_seconds, "longest": LONGEST_WAIT_SECONDS, "soon": SOON_SECONDS}
    values["longest_of_long"] = LONGEST_OF_LONG_SECONDS
    row = connection.execute(statements.GET_READY, values, prepare=True).fetchone()
    return Coming._make(row) if row else Coming(0, is_soon=False, has_suspects=False)


def claim(
    connection: Connection,
    *,
    run: int,
    asked: Sequence[Asked],
    held: Iterable[int],
    batch: int,
    suspects: int,
) -> list[Claimed]:
    """Lease ready deliveries of endpoints, and suspects in the shards that the run holds.

    Nobody but the run that holds an endpoint's shard asks for it, so the limits per endpoint, which each dispatcher
    keeps by itself, hold over all of them. A run that others have taken for lost gets nothing.
    """
    values = {
        "run": run,
        "batch": batch,
        "endpoints": integers(one.endpoint_id for one in asked),
        "rooms": integers(one.room for one in asked),
        "positions": integers(one.position for one in asked),
        "ids": integers(one.delivery_id for one in asked),
        "held": integers(held),
        "shards": SHARDS,
        "suspects": suspects,
        "most_suspects": SUSPECTS,
        "suspicious": SUSPICIOUS_LEASES,
        "most": batch + SUSPECTS,
    }
    with connection.cursor(binary=True) as cursor:
        cursor.execute(statements.CLAIM, values, prepare=True)
        return [Claimed(row[0], LeasedDelivery._make(row[1:])) for row in cursor.fetchall()]


def endpoint_snapshots(
    connection: Connection, *, unknown: Iterable[int], edits: ReadTransactions
) -> list[EndpointSnapshot]:
    """Read the endpoints of these ids, and all whose edits are not read yet."""
    with connection.cursor(binary=True) as cursor:
        cursor.execute(statements.ENDPOINT_SNAPSHOTS, {"unknown": integers(unknown), **edits.unread()}, prepare=True)
        rows = cursor.fetchall()
    edits.advance(rows[0][0])
    return [EndpointSnapshot._make(row[1:]) for row in rows if row[1] is not None]


def record(connection: Connection, *, run: int, columns: Mapping[str, Any]) -> int:
    """Record attempts (see `outcomes.columns`); says how many of the leases were still this run's."""
    values = {"run": run, "jitter": JITTER, "longest_short": LONGEST_SHORT_WAIT_SECONDS, **columns}
    row = connection.execute(statements.RECORD, values, prepare=True).fetchone()
    return int(row[0]) if row else 0


def give_back(connection: Connection, *, run: int, ids: Iterable[int]) -> None:
    """Return leases that were not used."""
    execute(connection, statements.GIVE_BACK, run=run, ids=integers(ids))


def hold(connection: Connection, *, run: int, ids: Sequence[int]) -> None:
    """Put deliveries off until their agencies are no longer suspended, or end what has waited for 24 hours."""
    values = {"ids": integers(ids), "most": len(ids), "error": AGENCY_SUSPENDED}
    execute(connection, statements.HOLD, run=run, **values)


def release(connection: Connection) -> int:
    """Make deliveries ready that are held though their agencies are not suspended any more; says how many."""
    return execute(connection, statements.RELEASE, batch=READY_BATCH)


def abandon(connection: Connection, *, run: int, ids: Iterable[int], error: str) -> None:
    """End deliveries for which nothing will be sent any more."""
    execute(connection, statements.ABANDON, run=run, ids=integers(ids), error=error)
