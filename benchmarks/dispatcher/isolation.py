"""Measures the latency of healthy endpoints with and without hanging neighbours."""

import signal
import time
from functools import partial
from statistics import median

from django.db import connection, transaction
from django.utils import timezone

from agency.models import Agency
from agency.services import write_event
from agency.tenants import Tenant
from benchmarks.dispatcher.event_latency import DATA
from benchmarks.figures import Figure
from benchmarks.processes import ReceiverProcess, dispatcher, receiver
from benchmarks.rounds import interleave, median_ratio, percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret

TITLE = (
    "Isolation: milliseconds from an event's commit to the first byte at a healthy endpoint. 300 events a second go\n"
    "evenly to 100 endpoints of one agency, of which 10 answer, or hang until the attempt's time is over. Ratios are\n"
    "to the same 90 endpoints without hanging neighbours."
)
ENDPOINTS, HANGING, RATE = 100, 10, 300
# Longer than an attempt, so that some attempts time out meanwhile.
SECONDS = 12
ROUNDS = 5
SHARES = {"p50": 0.5, "p99": 0.99}
MOST = 1.25
ALONE, BESIDE = "all answer", "10 % hang"
# The remaining deliveries of hanging endpoints would disturb the next measurement.
FORGET = """
DELETE FROM webhooks_queueddelivery
WHERE run IS NULL AND endpoint_id IN (SELECT id FROM webhooks_endpoint WHERE url LIKE %s)
"""
LEFT = "SELECT count(*) FROM webhooks_queueddelivery"


def run(_: Bench) -> list[Figure]:
    agency = agency_with(1)[0]
    with receiver() as received, dispatcher():
        _register(agency, received)
        _latencies(agency, received, seconds=1)  # waits until the dispatcher is at work
        variants = {ALONE: partial(_latencies, agency, received), BESIDE: partial(_beside_hanging, agency, received)}
        found = interleave(variants, rounds=ROUNDS)
    return [*_figures(found), _comparison(found)]


def _figures(found: dict[str, list[list[float]]]) -> list[Figure]:
    shares = {
        f"{name}, {share}": [percentile(times, SHARES[share]) for times in found[name]]
        for share in SHARES
        for name in found
    }
    return [
        Figure(
            name=name, measured=median(values), unit="ms", ratio=median_ratio(values, shares[f"{ALONE}, {name[-3:]}"])
        )
        for name, values in shares.items()
    ]


def _comparison(found: dict[str, list[list[float]]]) -> Figure:
    alone, beside = ([percentile(times, 0.99) for times in found[name]] for name in (ALONE, BESIDE))
    return Figure(name="p99 beside hanging / alone", measured=median_ratio(beside, alone), unit="x", at_most=MOST)


def _register(agency: Agency, received: ReceiverProcess) -> None:
    """Make the endpoints, each with its own event; the first ones can hang."""
    Endpoint.objects.bulk_create(
        Endpoint(
            agency=agency,
            url=f"{received.origin}/{'hang' if number < HANGING else 'healthy'}/{number}",
            events=[f"e{number}"],
            secret=new_secret(),
        )
        for number in range(ENDPOINTS)
    )


def _latencies(agency: Agency, received: ReceiverProcess, *, seconds: float = SECONDS) -> list[float]:
    """Record events evenly; give the healthy endpoints' milliseconds once all their events have arrived."""
    committed: dict[str, int] = {}
    started = time.monotonic()
    for number in range(int(RATE * seconds)):
        time.sleep(max(0.0, started + number / RATE - time.monotonic()))
        identity, at = _record(agency, number % ENDPOINTS)
        if number % ENDPOINTS >= HANGING:
            committed[identity] = at
    received.wait_for(set(committed))
    return [(received.at[identity] - at) / 1e6 for identity, at in committed.items()]


def _beside_hanging(agency: Agency, received: ReceiverProcess) -> list[float]:
    received.signal(signal.SIGUSR1)
    try:
        return _latencies(agency, received)
    finally:
        received.signal(signal.SIGUSR2)
        _settle()


def _settle() -> None:
    """Wait until no delivery of the hanging endpoints is left."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(FORGET, ["%/hang/%"])
            cursor.execute(LEFT)
            if not cursor.fetchone()[0]:
                return
        time.sleep(0.1)


def _record(agency: Agency, number: int) -> tuple[str, int]:
    """Record an event of one endpoint; give its id and the time right after the commit."""
    committed: list[int] = []
    with transaction.atomic():
        transaction.on_commit(lambda: committed.append(time.monotonic_ns()))
        event = write_event(tenant=Tenant(agency.pk), name=f"e{number}", data=DATA, now=timezone.now())
    return str(event.uuid), committed[0]
