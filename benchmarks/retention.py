"""Compares dropping a day of deliveries with deleting its rows."""

import time
from datetime import date

from django.db import connection

from benchmarks.figures import Figure
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from webhooks.models.partitions import A_DAY, first_id, make_partitions, today
from webhooks.models.partitions import ATTEMPTS as ATTEMPTS_TABLE
from webhooks.models.partitions import DELIVERIES as DELIVERIES_TABLE
from webhooks.services.partitions import drop_old_partitions

TITLE = (
    "Retention: being rid of a day of 200,000 deliveries and their attempts. Ratios are to dropping the day.\n"
    "Wanted: that it keeps up at 34,000 deliveries a second, twice the measured peak."
)
DELIVERIES = 200_000
PEAK = 34_000
BATCH = 5_000
INSERT = """
INSERT INTO webhooks_delivery (id, uuid, agency_id, endpoint_id, event_id, event_name, envelope_id, kind, status,
    attempts, max_attempts, created_at, completed_at)
SELECT %(first)s + n, gen_random_uuid(), %(agency)s, n %% 20, n, 'workspace.created', gen_random_uuid(), 'automatic',
    'success', 1, 3, now(), now()
FROM generate_series(1, %(count)s) n
"""
ATTEMPTS = """
INSERT INTO webhooks_attempt (delivery_id, number, started_at, duration_ms, url)
SELECT %(first)s + n, 1, now(), 1, 'https://receiver.example/hooks' FROM generate_series(1, %(count)s) n
"""
DELETE = (
    "DELETE FROM webhooks_attempt WHERE delivery_id BETWEEN %s AND %s",
    "DELETE FROM webhooks_delivery WHERE id BETWEEN %s AND %s",
)


def run(_: Bench) -> list[Figure]:
    agency = agency_with(1)[0].pk
    old, older = today() - 40 * A_DAY, today() - 41 * A_DAY
    _fill(agency, old)
    deleting = _delete(old)
    drop_old_partitions()
    _fill(agency, older)
    began = time.perf_counter()
    dropped = drop_old_partitions()
    dropping = time.perf_counter() - began
    microseconds = 1e6 / DELIVERIES
    return [
        Figure(
            name="dropped",
            measured=dropping * microseconds,
            unit="µs",
            ratio=1,
            at_most=1e6 / PEAK,
            note=f"a delivery; {dropping * 1000:,.0f} ms for {dropped} tables",
        ),
        Figure(
            name=f"deleted in batches of {BATCH:,}, and vacuumed",
            measured=deleting * microseconds,
            unit="µs",
            ratio=deleting / dropping,
            note=f"a delivery; {deleting:,.1f} s",
        ),
    ]


def _fill(agency: int, day: date) -> None:
    make_partitions(day, day)
    with connection.cursor() as cursor:
        for statement in (INSERT, ATTEMPTS):
            cursor.execute(statement, {"first": first_id(day), "agency": agency, "count": DELIVERIES})
        cursor.execute("CHECKPOINT")


def _delete(day: date) -> float:
    began = time.perf_counter()
    with connection.cursor() as cursor:
        for start in range(1, DELIVERIES, BATCH):
            for statement in DELETE:
                cursor.execute(statement, [first_id(day) + start, first_id(day) + start + BATCH - 1])
        cursor.execute(f"VACUUM {ATTEMPTS_TABLE.name(day)}, {DELIVERIES_TABLE.name(day)}")
    return time.perf_counter() - began
