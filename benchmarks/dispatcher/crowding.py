"""Measures how long one tenant's mass of deliveries makes another tenant's delivery wait."""

import time
from collections.abc import Callable
from functools import partial

from django.db import connection, transaction
from django.utils import timezone

from agency.models import Agency
from agency.services import write_event
from agency.tenants import Tenant
from benchmarks.dispatcher.event_latency import DATA
from benchmarks.dispatcher.queue import EMPTY
from benchmarks.figures import Figure
from benchmarks.processes import ReceiverProcess, dispatcher, fast_receiver, receiver
from benchmarks.rounds import percentile
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret

EVENTS = 1_000_000
MANY_ENDPOINTS, MANY_EVENTS = 2_500, 400
SECONDS, EVERY_SECONDS = 12.0, 0.1
MOST_MS = 2_000
TITLE = (
    f"Crowding: milliseconds from the commit of an agency's event to its first byte, while another agency's\n"
    f"{EVENTS:,} events of one endpoint, or {MANY_EVENTS} events of {MANY_ENDPOINTS:,} endpoints each, were committed "
    "just before."
)
RECORD_MANY = """
INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body)
SELECT gen_random_uuid(), %s, 'crowd', now(), %s FROM generate_series(1, %s)
"""
# Takes statistics of a quiet moment without waiting rows, as an installation has them most of the time.
ANALYZE = "ANALYZE agency_event, webhooks_queueddelivery"


def run(_: Bench) -> list[Figure]:
    crowds: dict[str, Callable[[Agency, str], None]] = {
        "nobody else": lambda _, __: None,
        f"{EVENTS:,} events": partial(_crowd, endpoints=1, events=EVENTS),
        f"{MANY_ENDPOINTS:,} endpoints": partial(_crowd, endpoints=MANY_ENDPOINTS, events=MANY_EVENTS),
    }
    figures = []
    for name, crowd in crowds.items():
        times = _beside(crowd)
        figures += [
            Figure(name=f"{name}, median", measured=percentile(times, 0.5), unit="ms"),
            Figure(name=f"{name}, the longest", measured=max(times), unit="ms", at_most=MOST_MS),
        ]
    return figures


def _beside(crowd: Callable[[Agency, str], None]) -> list[float]:
    crowded, other = agency_with(1)[0], agency_with(1)[0]
    with connection.cursor() as cursor:
        cursor.execute(EMPTY)
    with receiver() as received, fast_receiver() as (fast, *_), dispatcher():
        Endpoint.objects.create(agency=other, url=f"{received.origin}/other", events=["other"], secret=new_secret())
        _events(other, received, seconds=1.0)  # waits until the dispatcher is at work
        with connection.cursor() as cursor:
            cursor.execute(ANALYZE)
        crowd(crowded, fast)
        return _events(other, received, seconds=SECONDS)


def _crowd(agency: Agency, origin: str, *, endpoints: int, events: int) -> None:
    Endpoint.objects.bulk_create(
        Endpoint(agency=agency, url=f"{origin}/{number}", events=["crowd"], secret=new_secret())
        for number in range(endpoints)
    )
    with connection.cursor() as cursor:
        cursor.execute(RECORD_MANY, [agency.pk, b"{}", events])


def _events(agency: Agency, received: ReceiverProcess, *, seconds: float) -> list[float]:
    """Record an event now and then; give each event's milliseconds once all have arrived."""
    committed: dict[str, int] = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with transaction.atomic():
            event = write_event(tenant=Tenant(agency.pk), name="other", data=DATA, now=timezone.now())
        committed[str(event.uuid)] = time.monotonic_ns()
        time.sleep(EVERY_SECONDS)
    received.wait_for(set(committed))
    return [(received.at[identity] - at) / 1e6 for identity, at in committed.items()]
