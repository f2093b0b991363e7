"""What the courier asks of the database: the statements with their values.

A lease names the shift that holds it, and only that shift's record is taken, so a courier that comes back late
cannot overwrite what another one has done since.
"""

from collections.abc import Iterable, Mapping
from typing import Any, LiteralString, NamedTuple

from webhooks.courier import statements
from webhooks.courier.arrays import whole
from webhooks.courier.database import Connection

# A shift that was not seen for so long has lost its leases: the ten seconds of an attempt, and a margin.
LEASE_SECONDS = 20
GRACE_SECONDS = 3
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


class Leased(NamedTuple):
    """A delivery that this courier holds; `body` is missing where somebody removed its event."""

    id: int
    agency_id: int
    endpoint_id: int
    attempts: int
    max_attempts: int
    is_suspect: bool
    event: str
    envelope_id: str
    body: bytes | None


class Card(NamedTuple):
    """What the courier must know of an endpoint; the secret is still sealed."""

    endpoint_id: int
    url: str
    secret: bytes | None
    is_open: bool
    succeeded_last: bool


class Wants(NamedTuple):
    """What a courier can take in hand.

    `rooms` is how many more for an endpoint, `first` for one that is not among them. Agencies in `full` get nothing
    now; those in `held` have deliveries in hand. `suspects` is how many of those are in hand.
    """

    batch: int
    first: int
    rooms: Mapping[int, int]
    full: Iterable[int]
    held: Iterable[int]
    suspects: int


def run(connection: Connection, statement: LiteralString, **values: Any) -> int:
    """Execute a statement, prepared at its first use; says how many rows it touched."""
    return connection.execute(statement, values, prepare=True).rowcount


def fan_out(connection: Connection, *, batch: int = FAN_OUT_BATCH) -> int:
    """Make a delivery for each subscribed endpoint of each new event; says how many events were done."""
    return run(connection, statements.FAN_OUT, batch=batch)


def begin_shift(connection: Connection, *, shift: int) -> None:
    """Appear among the couriers at work."""
    run(connection, statements.BEGIN_SHIFT, shift=shift)


def hold_presence(connection: Connection, *, shift: int) -> None:
    """Hold the lock that says this courier lives, for as long as this connection does."""
    connection.execute(statements.HOLD_PRESENCE, {"presence": PRESENCE, "shift": shift})


def be_seen(connection: Connection, *, shift: int) -> bool:
    """Renew all leases of the shift; False where others have taken it for lost."""
    return run(connection, statements.BE_SEEN, shift=shift) == 1


def end_lost_shifts(connection: Connection, *, shift: int) -> int:
    """Free the leases of couriers that died or were not seen for long; says how many couriers those were."""
    values = {"shift": shift, "lease": LEASE_SECONDS, "grace": GRACE_SECONDS, "presence": PRESENCE}
    with connection.transaction():
        gone = connection.execute(statements.END_LOST_SHIFTS, values, prepare=True).fetchall()
        if gone:
            _free(connection, [int(row[0]) for row in gone])
    return len(gone)


def end_shift(connection: Connection, *, shift: int) -> None:
    """Leave work; what is still leased is free again."""
    with connection.transaction():
        run(connection, statements.END_SHIFT, shift=shift)
        _free(connection, [shift])


def _free(connection: Connection, shifts: Iterable[int]) -> None:
    run(connection, statements.FREE, shifts=whole(shifts), most=MOST_LEASES, suspicious=SUSPICIOUS_LEASES)


def get_ready(connection: Connection) -> int:
    """Mark the errands whose time has come; says how many."""
    return run(connection, statements.GET_READY, batch=READY_BATCH)


def claim(connection: Connection, *, shift: int, wants: Wants) -> list[Leased]:
    """Lease ready errands. Agencies of which another courier has deliveries in hand are left to it.

    So the limits per endpoint and per agency, which each courier keeps by itself, hold over all of them. A shift that
    others have taken for lost gets nothing.
    """
    values = {
        "shift": shift,
        "batch": wants.batch,
        "first": wants.first,
        "known": whole(wants.rooms),
        "rooms": whole(wants.rooms.values()),
        "full": whole(wants.full),
        "held": whole(wants.held),
        "turns": TURNS_PER_AGENCY,
        "suspects": wants.suspects,
        "most_suspects": SUSPECTS,
        "suspicious": SUSPICIOUS_LEASES,
        "most": wants.batch + SUSPECTS,
    }
    with connection.transaction(), connection.cursor(binary=True) as cursor:
        cursor.execute(statements.CLAIM_LOCK, {"lock": CLAIM_LOCK}, prepare=True)
        cursor.execute(statements.CLAIM, values, prepare=True)
        return list(map(Leased._make, cursor.fetchall()))


def cards(connection: Connection, *, unknown: Iterable[int]) -> list[Card]:
    """Read the endpoints of these ids and all that were edited lately."""
    values = {"unknown": whole(unknown), "lately": EDITED_LATELY_SECONDS}
    with connection.cursor(binary=True) as cursor:
        cursor.execute(statements.CARDS, values, prepare=True)
        return [Card._make(row) for row in cursor]


def record(connection: Connection, *, shift: int, told: Mapping[str, Any]) -> int:
    """Record attempts (see `verdicts.told`); says how many of the leases were still this shift's."""
    row = connection.execute(statements.RECORD, {"shift": shift, "jitter": JITTER, **told}, prepare=True).fetchone()
    return int(row[0]) if row else 0


def give_back(connection: Connection, *, shift: int, ids: Iterable[int]) -> None:
    """Return leases that were not used."""
    run(connection, statements.GIVE_BACK, shift=shift, ids=whole(ids))


def abandon(connection: Connection, *, shift: int, ids: Iterable[int], error: str) -> None:
    """End deliveries for which nothing will be sent any more."""
    run(connection, statements.ABANDON, shift=shift, ids=whole(ids), error=error)
