"""Measures the time from the commit of a change to the first byte of the delivery at the receiver."""

import time
from functools import partial
from statistics import median
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import Agency
from agency.services import write_event
from agency.tenants import Tenant
from benchmarks.figures import Figure
from benchmarks.processes import ReceiverProcess, dispatcher, receiver
from benchmarks.rounds import interleave, median_ratio, percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts import events

TITLE = (
    "Event latency: milliseconds from the commit to the first byte at a receiver on this machine, through the\n"
    "dispatcher (its own process, every attempt signed and recorded). Ratios are to the slowest rate's median."
)
# The seconds without events before an event that finds the dispatcher at rest, and the number of such events.
QUIET_SECONDS, AFTER_QUIET = 8.0, 8
RATES = (10, 50, 300)  # events a second
SECONDS = 3
WANTED = {(300, "p50"): 30.0, (300, "p99"): 150.0}
SHARES = {"p50": 0.5, "p99": 0.99}
# A usual length: 600 bytes with its envelope.
DATA = {"workspace": {"uuid": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10", "name": "n" * 400, "status": "active"}}


def run(_: Bench) -> list[Figure]:
    agency = agency_with(1)[0]
    with receiver() as received, dispatcher():
        register_endpoint(
            tenant=Tenant(agency.pk), url=f"{received.origin}/events", events=[events.WORKSPACE_SUSPENDED], by=SYSTEM
        )
        _events_at(5, 1, agency, received)  # waits until the dispatcher is at work
        variants = {str(rate): partial(_events_at, rate, SECONDS, agency, received) for rate in RATES}
        found = interleave(variants, rounds=5)
        rested = [time for _ in range(AFTER_QUIET) for time in _after_quiet(agency, received)]
    base = [percentile(times, 0.5) for times in found[str(RATES[0])]]
    woken = median(rested)
    return [
        *(_figure(rate, name, found[str(rate)], base) for rate in RATES for name in SHARES),
        Figure(name=f"one event after {QUIET_SECONDS:.0f} s", measured=woken, unit="ms", ratio=woken / median(base)),
    ]


def _figure(rate: int, name: str, rounds: list[list[float]], base: list[float]) -> Figure:
    values = [percentile(times, SHARES[name]) for times in rounds]
    return Figure(
        name=f"{rate} events a second, {name}",
        measured=median(values),
        unit="ms",
        ratio=median_ratio(values, base),
        at_most=WANTED.get((rate, name)),
    )


def _events_at(rate: int, seconds: int, agency: Agency, received: ReceiverProcess) -> list[float]:
    """Record events evenly at this rate; give each event's milliseconds once all have arrived."""
    committed: dict[str, int] = {}
    started = time.monotonic()
    for number in range(rate * seconds):
        time.sleep(max(0.0, started + number / rate - time.monotonic()))
        identity, at = _record(agency)
        committed[str(identity)] = at
    received.wait_for(set(committed))
    return [(received.at[identity] - at) / 1e6 for identity, at in committed.items()]


def _after_quiet(agency: Agency, received: ReceiverProcess) -> list[float]:
    """Record one event after a quiet time; give its milliseconds."""
    time.sleep(QUIET_SECONDS)
    return _events_at(1, 1, agency, received)


def _record(agency: Agency) -> tuple[UUID, int]:
    """Record one event; give its id and the time right after the commit, before the wake-up."""
    committed: list[int] = []
    with transaction.atomic():
        transaction.on_commit(lambda: committed.append(time.monotonic_ns()))
        event = write_event(tenant=Tenant(agency.pk), name=events.WORKSPACE_SUSPENDED, data=DATA, now=timezone.now())
    return event.uuid, committed[0]
