"""What a run of the notifications reads does not grow with what is there: few rows, along an index."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now
from pytest_django import DjangoDbBlocker

from agency.services.notifications.delivery import fan_out_next_event, mail_next_at_once, mail_next_digest
from agency.services.notifications.recording import BATCH, state_checks
from tests import furnished
from tests.agency.console.browsers import a_member
from tests.database.emptying import empty_database
from tests.factories import EndpointFactory
from tests.tenants import Tenant

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
# Of fewer endpoints PostgreSQL reads all, as that is quicker than its index; of people and events it never does.
MASSES = 10_000
PEOPLE_IN_ALL = 2_000
READERS = 20
# Of each batch an endpoint, its agency and what is known of it; never all that is there.
MOST_OF_A_CHECK = 3 * BATCH
MOST_OF_A_RUN = 50
EVENTS = """
INSERT INTO agency_notificationevent (agency_id, kind, key, object_id, data, created_at, lasts, told_until, told_at)
SELECT %s, %s, gen_random_uuid()::text, '', '{}', now(), true, 0, now() FROM generate_series(1, %s) number
RETURNING id
"""
ENDPOINTS = """
INSERT INTO webhooks_endpoint (uuid, agency_id, url, events, description, enabled, secret, created_at, failing_since,
    last_outcome)
SELECT gen_random_uuid(), agency_id, url, events, description, enabled, secret, created_at,
    now() - interval '2 hours', 'error'
FROM webhooks_endpoint, generate_series(1, %s) WHERE id = %s
"""
PEOPLE = """
INSERT INTO agency_user (password, is_superuser, email, name, is_staff, is_active, date_joined, landing)
SELECT '', false, 'p' || number || '@example.com', '', false, true, now(), '' FROM generate_series(1, %s) number
RETURNING id
"""
READ = "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(READ)
        [read] = cursor.fetchone() or [0]
    return int(read)


@contextmanager
def at_most(rows: int) -> Iterator[None]:
    before = rows_read()
    yield
    assert rows_read() - before <= rows


def execute(statement: str, *values: Any) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [row[0] for row in cursor.fetchall()] if "RETURNING" in statement else []


def analyze() -> None:
    execute("ANALYZE webhooks_endpoint, agency_notificationevent, agency_notification, agency_user")


@pytest.fixture(scope="module")
def masses(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Failing endpoints of one agency, and as many open states that are known already, of each kind that lasts.

    They are there for every test of the module that comes later, and none of them changes for good.
    """
    with django_db_blocker.unblock():
        agency = Tenant().agency
        execute(ENDPOINTS, MASSES, EndpointFactory.create(agency=agency).pk)
        for kind in ("endpoint.fails", "mail_server.fails", "agency.near_limit"):
            execute(EVENTS, agency.pk, kind, MASSES)
        analyze()
    yield
    with django_db_blocker.unblock():
        empty_database()


@pytest.mark.parametrize("name", [check.name for check in state_checks])
def test_a_check_reads_a_batch(name: str, masses: None) -> None:
    [check] = [check for check in state_checks if check.name == name]
    for _ in range(3):
        with at_most(MOST_OF_A_CHECK):
            check.check(now())


NOTIFICATIONS = """
INSERT INTO agency_notification (user_id, event_id, area, kind, created_at, way, mail_due_at)
SELECT person, %s, %s, %s, now(), way, now() - interval '1 minute'
FROM unnest(%s::bigint[]) WITH ORDINALITY AS people (person, number),
LATERAL (SELECT CASE WHEN number %% 2 = 0 THEN 'digest' ELSE 'at_once' END AS way) AS ways
"""
LONG_LIST = """
INSERT INTO agency_notification (user_id, event_id, area, kind, created_at, way)
SELECT person, event.id, %s, kind, now(), 'digest'
FROM unnest(%s::bigint[]) AS person, (SELECT * FROM agency_notificationevent WHERE id <> %s LIMIT %s) AS event
"""
RUNS: dict[str, Callable[[], bool]] = {
    "rows": fan_out_next_event,
    "at once": mail_next_at_once,
    "digest": mail_next_digest,
}


@pytest.mark.parametrize("name", RUNS)
def test_a_turn_reads_what_is_one_person_s(name: str, a: Tenant) -> None:
    """Of masses of events, and of people whose e-mails are due, the first of whom have been notified very often."""
    a_member(a.agency, "admin")
    [*_, event] = execute(EVENTS, a.agency.pk, "channel.lost", PEOPLE_IN_ALL)
    people = execute(PEOPLE, PEOPLE_IN_ALL)
    execute(NOTIFICATIONS, event, a.agency.uuid, "channel.lost", people)
    execute(LONG_LIST, a.agency.uuid, people[:READERS], event, PEOPLE_IN_ALL // READERS)
    execute("UPDATE agency_notificationevent SET told_at = NULL WHERE id = %s", event)
    analyze()
    with at_most(MOST_OF_A_RUN):
        assert RUNS[name]()
