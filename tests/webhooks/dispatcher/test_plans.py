"""Whatever the statistics say of outbox and queue, a statement of the dispatcher reads what it is after alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from config.leases.backlog import ReadTransactions
from config.leases.claimer import SOON_SECONDS
from config.leases.connections import Connection, open_connection
from config.leases.runs import SHARDS
from tests.factories.webhooks import an_endpoint
from tests.tenants import Tenant
from tests.webhooks.api.test_log_reads import nodes
from tests.webhooks.delivering import EVENT, record_events
from webhooks.dispatcher import statements
from webhooks.dispatcher.claimer import prepare_session
from webhooks.dispatcher.queries import LATE_SECONDS, LONGEST_OF_LONG_SECONDS, READY_BATCH
from webhooks.models import DispatcherRun, QueuedDelivery

pytestmark = pytest.mark.django_db(transaction=True)
RECORD = """
INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body, fanned_out_at)
SELECT gen_random_uuid(), %s, %s, now(), '{}', CASE WHEN %s THEN now() END FROM generate_series(1, %s)
"""
QUEUE = """
INSERT INTO webhooks_queueddelivery (delivery_id, agency_id, endpoint_id, due_at, is_ready, is_suspect, lost_leases)
SELECT -number, %s, %s, now() + interval '1 hour', %s, false, 0 FROM generate_series(%s + 1, %s + %s) number
"""
VALUE = re.compile(r"%\((\w+)\)s")
MASSES = 20_000
QUEUE_TABLE = "webhooks_queueddelivery"
# What was there when the tables were looked through: rows that wait, and rows that are done or wait for their time.
STATISTICS = {
    "of nothing": (0, 0),
    "of a handful": (1, 4),
    "of a quiet hour": (0, 3_000),
    "of masses": (3_000, 0),
    "of both": (300, 3_000),
}
MOST_READ = 10


class Plans:
    """A dispatcher's connection. It plans each statement at its first use, as ever without a look at the values."""

    def __init__(self, database: Connection, table: str) -> None:
        self.database, self.table = database, table
        self.names: dict[str, list[str]] = {}

    def prepare(self, name: str) -> None:
        names = self.names[name] = list(dict.fromkeys(VALUE.findall(getattr(statements, name))))
        numbered = VALUE.sub(lambda value: f"${names.index(value[1]) + 1}", getattr(statements, name))
        self.database.execute(f"PREPARE {name} AS {numbered.replace('%%', '%')}".encode())

    def rows_read(self, name: str, values: dict[str, Any]) -> int:
        """Execute a statement; gives how many rows of the table it looked at, those included that it dropped."""
        if name not in self.names:
            self.prepare(name)
        given = ", ".join(f"'{values[value]}'" for value in self.names[name])
        row = self.database.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {name} ({given})".encode()).fetchone()
        assert row is not None
        scans = [one for one in nodes(row[0][0]["Plan"]) if one.get("Relation Name") == self.table]
        return int(
            sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in scans)
        )


def record(tenant: Tenant, count: int, *, is_done: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [tenant.agency.pk, EVENT, is_done, count])


def queue(tenant: Tenant, endpoint: int, count: int, *, is_ready: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM webhooks_queueddelivery")
        [before] = cursor.fetchone() or [0]
        cursor.execute(QUEUE, [tenant.agency.pk, endpoint, is_ready, before, before, count])


@contextmanager
def plans(table: str) -> Iterator[list[Plans]]:
    """A dispatcher that is there already, and one that comes when the masses are there."""
    with open_connection("test") as early, open_connection("test") as late:
        if table == QUEUE_TABLE:
            prepare_session(early)
            prepare_session(late)
        yield [Plans(early, table), Plans(late, table)]


def analyze(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (FULL, ANALYZE) {table}")


@pytest.mark.parametrize("statistics", STATISTICS)
def test_an_event_beside_masses_is_found_by_itself(a: Tenant, b: Tenant, statistics: str) -> None:
    waiting, done = STATISTICS[statistics]
    an_endpoint(b)
    record(a, waiting, is_done=False)
    record(a, done, is_done=True)
    analyze("agency_event")
    read = ReadTransactions()
    values: dict[str, dict[str, Any]] = {
        "NEW_EVENTS": {"in_progress": "{7}", "limit": 10_000},
        "EVENTS_OF_TENANTS": {"agency": 0, "workspace": 0, "page": 1_000},
        "FAN_OUT": {"agencies": f"{{{b.agency.pk}}}", "workspaces": "{0}", "positions": "{0}", "ids": "{0}"},
    }
    values["FAN_OUT"] |= {"events": 500, "rows": 2_000, "tenants": 1}
    with plans("agency_event") as both:
        for name in values:
            both[0].rows_read(name, values[name] | {"next": 2**60})
        record(a, MASSES, is_done=False)
        read.begin(both[0].database)
        record_events(b)
        look: dict[str, Any] = read.unread() | {"in_progress": "{7}"}
        found = [{name: one.rows_read(name, look | values[name]) for name in values} for one in both]
    assert max(max(one.values()) for one in found) <= MOST_READ, found


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_delivery_beside_masses_is_found_by_itself(a: Tenant, b: Tenant, statistics: str) -> None:
    waiting, later = STATISTICS[statistics]
    crowded, other = an_endpoint(a).pk, an_endpoint(b).pk
    queue(a, crowded, waiting, is_ready=True)
    queue(a, crowded, later, is_ready=False)
    analyze(QUEUE_TABLE)
    DispatcherRun.objects.create(number=1, started_at=now(), seen_at=now())
    read = ReadTransactions()
    asked = {"endpoints": f"{{{other}}}", "rooms": "{4}", "positions": "{0}", "ids": "{0}"}
    suspects = {"suspects": 0, "most_suspects": 256, "suspicious": 2, "shards": SHARDS, "held": "{}"}
    values: dict[str, dict[str, Any]] = {
        "NEW_READY": {"in_progress": "{7}", "limit": 10_000},
        "READY_OF_ENDPOINTS": {"endpoint": 0, "page": 1_000},
        "CLAIM": {"run": 1, "batch": 300, "most": 556} | asked | suspects,
    }
    with plans(QUEUE_TABLE) as both:
        for name in values:
            both[0].rows_read(name, values[name] | {"next": 2**60})
        queue(a, crowded, MASSES, is_ready=True)
        read.begin(both[0].database)
        queue(b, other, 1, is_ready=True)
        look: dict[str, Any] = read.unread() | {"in_progress": "{7}"}
        found = [{name: one.rows_read(name, look | values[name]) for name in values} for one in both]
    assert max(max(one.values()) for one in found) <= MOST_READ, found


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_delivery_that_is_due_beside_masses_that_wait_is_found_by_itself(
    a: Tenant, b: Tenant, statistics: str
) -> None:
    ready, later = STATISTICS[statistics]
    crowded, other = an_endpoint(a).pk, an_endpoint(b).pk
    queue(a, crowded, ready, is_ready=True)
    queue(a, crowded, later, is_ready=False)
    analyze(QUEUE_TABLE)
    values = {"batch": READY_BATCH, "late": LATE_SECONDS, "soon": SOON_SECONDS, "longest": 3_601}
    values["longest_of_long"] = LONGEST_OF_LONG_SECONDS
    with plans(QUEUE_TABLE) as both:
        both[0].rows_read("GET_READY", values)
        queue(a, crowded, MASSES, is_ready=False)
        found = []
        for one in both:
            queue(b, other, 1, is_ready=False)
            QueuedDelivery.objects.filter(endpoint_id=other).update(due_at=now())
            found.append(one.rows_read("GET_READY", values))
            assert QueuedDelivery.objects.filter(endpoint_id=other, is_ready=True).count() == len(found)
    assert max(found) <= MOST_READ, found
