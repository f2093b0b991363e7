"""What it costs the dispatcher that somebody holds an old snapshot, as a dump or a lagging replica does."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median
from unittest.mock import patch

from agency.models import Agency
from benchmarks.dispatcher.ceilings import NoSending
from benchmarks.dispatcher.queue import fill
from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rounds import interleave, median_ratio
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from config.leases.connection import open_connection
from webhooks.dispatcher import loop, queries
from webhooks.models import Delivery

DELIVERIES = 200_000
AGENCIES, ENDPOINTS = 4, 20
ROUNDS = 3
PATIENCE_SECONDS = 240.0
MOST = 2.0
FREE, HELD = "no old snapshot", "a snapshot held all the while"
TITLE = (
    f"A held snapshot: microseconds for each of {DELIVERIES:,} deliveries, claimed and recorded with the sending left\n"
    "out, and milliseconds that a claim took in the end (the last fifth). No dead row is cleared away meanwhile."
)


def run(_: Bench) -> list[Figure]:
    agencies = [agency_with(1)[0] for _ in range(AGENCIES)]
    urls = [f"http://127.0.0.1/{number}" for number in range(ENDPOINTS)]
    variants = {
        FREE: partial(_work, agencies, urls, is_held=False),
        HELD: partial(_work, agencies, urls, is_held=True),
    }
    found = interleave(variants, rounds=ROUNDS)
    whole = {name: [one[0] for one in rounds] for name, rounds in found.items()}
    claims = {name: [one[1] for one in rounds] for name, rounds in found.items()}
    return [
        *(Figure(name=name, measured=median(values), unit="µs") for name, values in whole.items()),
        *(Figure(name=f"a claim, {name}", measured=median(values), unit="ms") for name, values in claims.items()),
        Figure(name="held / not held", measured=median_ratio(whole[HELD], whole[FREE]), unit="x", at_most=MOST),
    ]


@contextmanager
def _snapshot() -> Iterator[None]:
    """Hold a snapshot of now."""
    with open_connection("a dump") as holder:
        holder.execute("SET idle_in_transaction_session_timeout = 0")
        holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT count(*) FROM agency_agency")
        yield
        holder.execute("ROLLBACK")


def _work(agencies: Sequence[Agency], urls: Sequence[str], *, is_held: bool) -> tuple[float, float]:
    """Give microseconds for each delivery, and milliseconds of a claim in the end."""
    fill(agencies, urls, DELIVERIES)
    if is_held:
        with _snapshot():
            return _deliver()
    return _deliver()


def _deliver() -> tuple[float, float]:
    claims: list[float] = []
    claim = queries.claim

    def timed(*args: object, **values: object) -> object:
        began = time.perf_counter()
        claimed = claim(*args, **values)  # type: ignore[arg-type]  # passed on as they are
        if claimed:
            claims.append(time.perf_counter() - began)
        return claimed

    with patch.object(loop, "Sender", NoSending), patch.object(queries, "claim", timed):
        dispatcher = loop.Dispatcher()
        began = time.monotonic()
        dispatcher.run(
            should_stop=lambda: (
                time.monotonic() - began > PATIENCE_SECONDS
                or (dispatcher.sent >= DELIVERIES and not dispatcher.recorder.backlog)
            )
        )
        took = time.monotonic() - began
    if Delivery.objects.filter(status="success").count() < DELIVERIES:
        raise Broken("The dispatcher did not deliver everything.")
    return took / DELIVERIES * 1e6, median(claims[-len(claims) // 5 :]) * 1000
