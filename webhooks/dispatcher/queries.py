"""Executes the dispatcher's statements.

A lease names its run, and only that run can record a result (fencing). So a dispatcher that comes back late cannot
overwrite another one's work.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import LiteralString, NamedTuple
from uuid import UUID

from config.leases.backlog import ReadTransactions
from config.leases.claimer import SOON_SECONDS
from config.leases.connections import Connection
from config.leases.runs import SHARDS, WorkerRuns
from config.postgresql.arrays import integers
from config.postgresql.concurrency import AdvisoryLock
from webhooks.dispatcher import statements
from webhooks.services.queueing import AGENCY_SUSPENDED

MOST_LOST_LEASES = 10
SUSPICIOUS_LEASES = 2
SUSPECTS = 256
READY_BATCH = 5_000
FREE_PAGE = 20_000
JITTER = 0.2
# Deliveries that became due longer ago were made ready by an earlier statement, even if they were committed late.
LATE_SECONDS = 60
ALL_SECONDS = 10**9
# The first is longer than any wait of standard retries. A longer wait is marked `waits_long` and lasts at most a day.
LONGEST_SHORT_WAIT_SECONDS = 200.0
LONGEST_WAIT_SECONDS = 300
LONGEST_OF_LONG_SECONDS = 90_000


class LeasedDelivery(NamedTuple):
    """A delivery that this dispatcher has leased. `body` is None if its event was removed.

    `is_of_suspended` means that its agency was suspended at the time of the claim.
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
    """The columns of an endpoint that the dispatcher needs. The secrets are still encrypted.

    The previous secret also signs until `previous_secret_until`. That is `previous_secret_seconds` after this snapshot
    was read.
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
    """The number of deliveries that a dispatcher can lease.

    `rooms` holds the further deliveries for each known endpoint, `first` those for any other. `busy` endpoints have
    leased deliveries; `slow` ones are busy and slow. `full_agencies`, with all their workspaces, and `full_tenants`
    (see `tenant_number`) get nothing now. `suspects` is the number of leased suspects.
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


class EndpointRequest(NamedTuple):
    """A request for up to `room` ready deliveries of an endpoint, after a cursor (position and id) in its queue."""

    endpoint_id: int
    room: int
    position: int
    delivery_id: int


class ClaimedDelivery(NamedTuple):
    """A leased delivery with its position in the endpoint's queue."""

    position: int
    row: LeasedDelivery


class ReadyResult(NamedTuple):
    """The number of deliveries made ready, whether others are due within `SOON_SECONDS`, and whether suspects wait."""

    made: int
    is_soon: bool
    has_suspects: bool


def tenant_number(agency_id: int, workspace_id: int | None) -> int:
    """Return a tenant as one number: the workspace's primary key, or the negative one of the agency."""
    return -agency_id if workspace_id is None else workspace_id


def execute(connection: Connection, statement: LiteralString, **values: object) -> int:
    """Execute a statement, which is prepared at its first use. Return the number of affected rows."""
    return connection.execute(statement, values, prepare=True).rowcount


def free(connection: Connection, runs: Iterable[int], after: int, died: bool) -> int | None:
    """Free the leases of ended runs (see `config.leases.runs`). Fail deliveries whose leases were lost too often."""
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


def mark_ready(connection: Connection, *, late_seconds: int = LATE_SECONDS) -> ReadyResult:
    """Mark deliveries ready that became due within the last `late_seconds`. Return the counts and what comes next."""
    values = {"batch": READY_BATCH, "late": late_seconds, "longest": LONGEST_WAIT_SECONDS, "soon": SOON_SECONDS}
    values["longest_of_long"] = LONGEST_OF_LONG_SECONDS
    row = connection.execute(statements.GET_READY, values, prepare=True).fetchone()
    return ReadyResult._make(row) if row else ReadyResult(0, is_soon=False, has_suspects=False)


def claim(
    connection: Connection,
    *,
    run: int,
    asked: Sequence[EndpointRequest],
    held: Iterable[int],
    batch: int,
    suspects: int,
) -> list[ClaimedDelivery]:
    """Lease ready deliveries of the asked endpoints, and suspects in the run's shards.

    Only the run that holds an endpoint's shard claims its deliveries. So each dispatcher's limits per endpoint hold for
    all dispatchers together. A run that was marked lost gets nothing.
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
        return [ClaimedDelivery(row[0], LeasedDelivery._make(row[1:])) for row in cursor.fetchall()]


def endpoint_snapshots(
    connection: Connection, *, unknown: Iterable[int], edits: ReadTransactions
) -> list[EndpointSnapshot]:
    """Read the endpoints with these ids, and all endpoints with edits that were not read yet."""
    with connection.cursor(binary=True) as cursor:
        cursor.execute(statements.ENDPOINT_SNAPSHOTS, {"unknown": integers(unknown), **edits.unread()}, prepare=True)
        rows = cursor.fetchall()
    edits.advance(rows[0][0])
    return [EndpointSnapshot._make(row[1:]) for row in rows if row[1] is not None]


def record(connection: Connection, *, run: int, columns: Mapping[str, object]) -> int:
    """Record attempts (see `outcomes.columns`). Return how many leases still belonged to this run."""
    values = {"run": run, "jitter": JITTER, "longest_short": LONGEST_SHORT_WAIT_SECONDS, **columns}
    row = connection.execute(statements.RECORD, values, prepare=True).fetchone()
    return int(row[0]) if row else 0


def give_back(connection: Connection, *, run: int, ids: Iterable[int]) -> None:
    """Give back unused leases."""
    execute(connection, statements.GIVE_BACK, run=run, ids=integers(ids))


def hold(connection: Connection, *, run: int, ids: Sequence[int]) -> None:
    """Hold deliveries until their agencies are no longer suspended. Fail those that have waited for 24 hours."""
    values = {"ids": integers(ids), "most": len(ids), "error": AGENCY_SUSPENDED}
    execute(connection, statements.HOLD, run=run, **values)


def release(connection: Connection) -> int:
    """Make held deliveries ready whose agencies are no longer suspended. Return how many."""
    return execute(connection, statements.RELEASE, batch=READY_BATCH)


def abandon(connection: Connection, *, run: int, ids: Iterable[int], error: str) -> None:
    """Fail deliveries that will not be sent any more."""
    execute(connection, statements.ABANDON, run=run, ids=integers(ids), error=error)
