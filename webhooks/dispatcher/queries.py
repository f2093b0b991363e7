"""What the dispatcher asks of the database: the statements with their values.

A lease names the run that holds it, and only that run's record is taken, so a dispatcher that comes back late
cannot overwrite what another one has done since.
"""

from collections.abc import Iterable, Mapping
from typing import Any, LiteralString, NamedTuple

from config.leases.arrays import integers
from config.leases.connection import Connection
from config.leases.runs import WorkerRuns
from webhooks.dispatcher import statements

MOST_LEASES = 10
SUSPICIOUS_LEASES = 2
SUSPECTS = 256
FAN_OUT_BATCH = 500
READY_BATCH = 5_000
TURNS_PER_AGENCY = 64
EDITED_LATELY_SECONDS = 60
JITTER = 0.2
# Advisory locks: any constants that nothing else in this database locks.
CLAIM_LOCK = 7_105_001
PRESENCE = 7_105_002


class LeasedDelivery(NamedTuple):
    """A delivery that this dispatcher holds; `body` is missing where somebody removed its event."""

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


class EndpointSnapshot(NamedTuple):
    """What the dispatcher must know of an endpoint; the secret is still encrypted."""

    endpoint_id: int
    url: str
    secret: bytes | None
    is_open: bool
    succeeded_last: bool


class Capacity(NamedTuple):
    """What a dispatcher can lease.

    `rooms` is how many more for an endpoint, `first` for one that is not among them. `full_agencies`, with all their
    workspaces, and `full_tenants` (see `tenant_number`) get nothing now; agencies in `held` have leased deliveries.
    `suspects` is how many of those are leased.
    """

    batch: int
    first: int
    rooms: Mapping[int, int]
    full_agencies: Iterable[int]
    full_tenants: Iterable[int]
    held: Iterable[int]
    suspects: int


NO_CAPACITY = Capacity(0, 0, {}, (), (), (), 0)


def tenant_number(agency_id: int, workspace_id: int | None) -> int:
    """A tenant as one number: the workspace's, or for an agency's own the agency's, negative."""
    return -agency_id if workspace_id is None else workspace_id


def execute(connection: Connection, statement: LiteralString, **values: Any) -> int:
    """Execute a statement, prepared at its first use; says how many rows it touched."""
    return connection.execute(statement, values, prepare=True).rowcount


def fan_out(connection: Connection, *, batch: int = FAN_OUT_BATCH) -> int:
    """Make a delivery for each subscribed endpoint of each new event; says how many events were done."""
    return execute(connection, statements.FAN_OUT, batch=batch)


def free(connection: Connection, runs: Iterable[int]) -> None:
    """Free the leases of runs that have ended; what was leased to too many of them is given up."""
    execute(connection, statements.FREE, runs=integers(runs), most=MOST_LEASES, suspicious=SUSPICIOUS_LEASES)


RUNS = WorkerRuns(table="webhooks_dispatcherrun", presence=PRESENCE, free=free)


def get_ready(connection: Connection) -> int:
    """Mark the queued deliveries whose time has come; says how many."""
    return execute(connection, statements.GET_READY, batch=READY_BATCH)


def claim(connection: Connection, *, run: int, capacity: Capacity) -> list[LeasedDelivery]:
    """Lease ready deliveries. Agencies of which another dispatcher has leased deliveries are left to it.

    So the limits per endpoint, tenant and agency, which each dispatcher keeps by itself, hold over all of them. A run
    that others have taken for lost gets nothing.
    """
    values = {
        "run": run,
        "batch": capacity.batch,
        "first": capacity.first,
        "known": integers(capacity.rooms),
        "rooms": integers(capacity.rooms.values()),
        "full_agencies": integers(capacity.full_agencies),
        "full_tenants": integers(capacity.full_tenants),
        "held": integers(capacity.held),
        "turns": TURNS_PER_AGENCY,
        "suspects": capacity.suspects,
        "most_suspects": SUSPECTS,
        "suspicious": SUSPICIOUS_LEASES,
        "most": capacity.batch + SUSPECTS,
    }
    with connection.transaction(), connection.cursor(binary=True) as cursor:
        cursor.execute(statements.CLAIM_LOCK, {"lock": CLAIM_LOCK}, prepare=True)
        cursor.execute(statements.CLAIM, values, prepare=True)
        return list(map(LeasedDelivery._make, cursor.fetchall()))


def endpoint_snapshots(connection: Connection, *, unknown: Iterable[int]) -> list[EndpointSnapshot]:
    """Read the endpoints of these ids and all that were edited lately."""
    values = {"unknown": integers(unknown), "lately": EDITED_LATELY_SECONDS}
    with connection.cursor(binary=True) as cursor:
        cursor.execute(statements.ENDPOINT_SNAPSHOTS, values, prepare=True)
        return [EndpointSnapshot._make(row) for row in cursor]


def record(connection: Connection, *, run: int, columns: Mapping[str, Any]) -> int:
    """Record attempts (see `outcomes.columns`); says how many of the leases were still this run's."""
    row = connection.execute(statements.RECORD, {"run": run, "jitter": JITTER, **columns}, prepare=True).fetchone()
    return int(row[0]) if row else 0


def give_back(connection: Connection, *, run: int, ids: Iterable[int]) -> None:
    """Return leases that were not used."""
    execute(connection, statements.GIVE_BACK, run=run, ids=integers(ids))


def abandon(connection: Connection, *, run: int, ids: Iterable[int], error: str) -> None:
    """End deliveries for which nothing will be sent any more."""
    execute(connection, statements.ABANDON, run=run, ids=integers(ids), error=error)
