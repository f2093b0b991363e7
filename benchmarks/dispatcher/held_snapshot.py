"""Measures what an old snapshot, as a dump or a lagging replica holds it, costs the dispatcher."""

import time
from functools import partial
from statistics import median
from unittest.mock import patch

from benchmarks.dispatcher.ceilings import NoSending
from benchmarks.dispatcher.queue import fill
from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from benchmarks.snapshots import with_and_without
from webhooks.dispatcher import loop, queries
from webhooks.models import Delivery

DELIVERIES = 200_000
AGENCIES, ENDPOINTS = 4, 20
ROUNDS = 3
PATIENCE_SECONDS = 240.0
TITLE = (
    f"A held snapshot: microseconds for each of {DELIVERIES:,} deliveries, claimed and recorded with the sending left\n"
    "out, and milliseconds that a claim took in the end (the last fifth). No dead row is cleared away meanwhile."
)


def run(_: Bench) -> list[Figure]:
    agencies = [agency_with(1)[0] for _ in range(AGENCIES)]
    urls = [f"http://127.0.0.1/{number}" for number in range(ENDPOINTS)]
    return list(with_and_without(partial(fill, agencies, urls, DELIVERIES), _deliver, rounds=ROUNDS))


def _deliver() -> tuple[float, float]:
    claims: list[float] = []
    claim = queries.claim

    def timed(*args: object, **values: object) -> object:
        began = time.perf_counter()
        claimed = claim(*args, **values)  # type: ignore[arg-type]  # passed on as they are
        if claimed:
            claims.append(time.perf_counter() - began)
        return claimed

    with patch.object(loop, "HTTPClient", NoSending), patch.object(queries, "claim", timed):
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
