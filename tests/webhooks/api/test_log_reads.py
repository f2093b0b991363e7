"""However much is newer than what a filter finds, the log reads about as many rows as it shows."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.tenants import Tenant
from tests.webhooks.factories import an_endpoint

pytestmark = pytest.mark.django_db(transaction=True)
MANY = """
INSERT INTO webhooks_delivery (uuid, agency_id, endpoint_id, event_name, envelope_id, kind, status, attempts,
    max_attempts, created_at, completed_at, failed_at)
SELECT gen_random_uuid(), %s, %s, %s, gen_random_uuid(), 'automatic', %s, 1, 3, now(), now(),
    CASE WHEN %s = 'error' THEN now() END
FROM generate_series(1, %s)
"""
SHOWN = 30


@pytest.fixture
def quiet(a: Tenant, b: Tenant) -> str:
    """An agency that had many deliveries once, and whose neighbour has many now; gives its first endpoint."""
    one, other, neighbour = an_endpoint(a), an_endpoint(a), an_endpoint(b)
    with connection.cursor() as cursor:
        for tenant, endpoint, event, status, count in (
            (a, one, "addon.granted", "success", 5_000),
            (a, one, "workspace.created", "error", 2_000),
            (a, other, "workspace.created", "success", 9_000),
            (b, neighbour, "addon.granted", "success", 4_000),
            (b, neighbour, "workspace.created", "error", 4_000),
        ):
            cursor.execute(MANY, [tenant.agency.pk, endpoint.pk, event, status, status, count])
        # What other tests rolled back would count as pages of the table, and be taken for the cost of reading it.
        cursor.execute("VACUUM (FULL, ANALYZE) webhooks_delivery")
    return str(one.uuid)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


def rows_read(sql: str) -> int:
    """How many deliveries a statement looks at, those included that it drops."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        [[answer]] = cursor.fetchall()
    [plan] = json.loads(answer) if isinstance(answer, str) else answer
    scans = [node for node in nodes(plan["Plan"]) if node.get("Relation Name", "").startswith("webhooks_delivery")]
    return int(sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans))


def asked(captured: CaptureQueriesContext) -> list[str]:
    """The statements about deliveries: of the last two days, and of those before where these were not enough."""
    return [one["sql"] for one in captured if 'FROM "webhooks_delivery"' in one["sql"]]


@pytest.mark.parametrize(
    "query", ["", "status=success", "status=error", "event=addon.granted", "event=addon.revoked",
              "event=workspace.created&status=error", "event=workspace.created&status=success"],
)  # fmt: skip
def test_the_log_of_an_agency_reads_little(a: Tenant, quiet: str, query: str) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert a.api.get(f"/webhooks/deliveries?{query}").status_code == 200
    assert 0 < len(asked(captured)) <= 2
    assert sum(map(rows_read, asked(captured))) <= 2 * SHOWN


@pytest.mark.parametrize("query", ["", "status=error", "event=workspace.created"])
def test_the_log_of_an_endpoint_reads_little(a: Tenant, quiet: str, query: str) -> None:
    with CaptureQueriesContext(connection) as captured:
        rows = a.api.get(f"/webhooks/{quiet}/deliveries?{query}").json()["data"]
    assert {row["webhook"]["uuid"] for row in rows} <= {quiet}
    assert 0 < len(asked(captured)) <= 2
    assert sum(map(rows_read, asked(captured))) <= 2 * SHOWN
