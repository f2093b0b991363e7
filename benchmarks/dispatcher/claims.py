"""Measures how long a claim takes with very many ready endpoints, and the largest share of one agency in it."""

import time
from collections import Counter
from statistics import median

from benchmarks.dispatcher.queue import fill
from benchmarks.figures import Figure
from benchmarks.rounds import percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from config.leases.claimer import Demand
from config.leases.connections import open_connection
from webhooks.dispatcher.claimer import DeliveryClaimer
from webhooks.dispatcher.loop import CLAIM_BATCH
from webhooks.dispatcher.queries import NO_CAPACITY, RUNS, Capacity, EndpointSnapshot, LeasedDelivery
from webhooks.dispatcher.queues import FIRST_CLAIM

AGENCIES, ENDPOINTS, DELIVERIES, CLAIMS = 100, 10_000, 60_000, 40
RUN = 1
TITLE = (
    f"Claims: {ENDPOINTS:,} endpoints of {AGENCIES} agencies are ready, {CLAIMS} claims of {CLAIM_BATCH:,} deliveries\n"
    "one after the other. Milliseconds of one, with the choice of whose turn it is."
)


def run(_: Bench) -> list[Figure]:
    agencies = [agency_with(1)[0] for _ in range(AGENCIES)]
    fill(agencies, [f"http://127.0.0.1/{number}" for number in range(ENDPOINTS)], DELIVERIES)
    taken: list[list[LeasedDelivery]] = []

    def receive(leased: list[LeasedDelivery], _: list[EndpointSnapshot]) -> None:
        if leased:
            taken.append(leased)

    claimer = DeliveryClaimer(RUN, Demand(nothing=NO_CAPACITY, wake=lambda: None), receive, lambda: None)
    times = []
    with open_connection("bench") as connection:
        claimer.on_connect(connection)
        claimer.sweep(connection)
        claimer.ready.refresh(connection)
        for _number in range(CLAIMS):
            began = time.perf_counter()
            claimer.claim(connection, Capacity(CLAIM_BATCH, FIRST_CLAIM, {}, (), (), (), (), 0))
            times.append((time.perf_counter() - began) * 1000)
        RUNS.end(connection, run=RUN)
    shares = [max(Counter(row.agency_id for row in rows).values()) / len(rows) for rows in taken]
    return [
        Figure(name="a claim, median", measured=median(times), unit="ms", at_most=15),
        Figure(name="a claim, p90", measured=percentile(times, 0.9), unit="ms"),
        Figure(name="missing of a full batch", measured=CLAIM_BATCH - min(map(len, taken)), unit="", at_most=0),
        Figure(name="share of one agency, at most", measured=max(shares) * 100, unit="%", at_most=2),
    ]
