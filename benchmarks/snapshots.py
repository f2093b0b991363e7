"""Measures what a held snapshot costs a worker. A dump or a lagging replica holds such an old snapshot."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median

from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from config.leases.connections import open_connection

MOST = 2.0
FREE, HELD = "no old snapshot", "a snapshot held all the while"

# Gives the microseconds for each row, and the milliseconds of a claim at the end.
Work = Callable[[], tuple[float, float]]


def with_and_without(fill: Callable[[], object], work: Work, *, rounds: int) -> Iterator[Figure]:
    """Fill a queue and work through it, without a held snapshot and with one that is older than the work's rows."""
    found = interleave({FREE: partial(_work, fill, work, False), HELD: partial(_work, fill, work, True)}, rounds=rounds)
    whole = {name: [one[0] for one in values] for name, values in found.items()}
    claims = {name: [one[1] for one in values] for name, values in found.items()}
    yield from (Figure(name=name, measured=median(values), unit="µs") for name, values in whole.items())
    yield from (Figure(name=f"a claim, {name}", measured=median(values), unit="ms") for name, values in claims.items())
    yield Figure(name="held / not held", measured=median_ratio(whole[HELD], whole[FREE]), unit="x", at_most=MOST)


def _work(fill: Callable[[], object], work: Work, is_held: bool) -> tuple[float, float]:
    fill()
    if is_held:
        with _snapshot():
            return work()
    return work()


@contextmanager
def _snapshot() -> Iterator[None]:
    """Take a snapshot and hold it."""
    with open_connection("a dump") as holder:
        holder.execute("SET idle_in_transaction_session_timeout = 0")
        holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT count(*) FROM agency_agency")
        yield
        holder.execute("ROLLBACK")
