"""However much is newer than what a filter finds, the log reads about as many rows as it shows."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories.webhooks import an_endpoint
from tests.tenants import Tenant

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
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


def read_by(tenant: Tenant, path: str) -> tuple[int, int]:
    """How many deliveries match, and how many were looked at for the answer."""
    with CaptureQueriesContext(connection) as captured:
        answer = tenant.api.get(path)
    assert answer.status_code == 200, answer.content
    asked = [one["sql"] for one in captured if "webhooks_delivery" in one["sql"]]
    assert asked
    return answer.json()["meta"]["total"], sum(map(rows_read, asked))


NOBODY = "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10"


OF_AGENCY = {
    "": 10_000,
    "page=300": 10_000,
    "status=error": 2_000,
    "status=pending": 0,
    "event=addon.granted": 5_000,
    "event=addon.revoked": 0,
    "event=workspace.created&status=error": 2_000,
    "event=addon.granted&status=error": 0,
    f"workspace={NOBODY}": 0,
    f"envelope_id={NOBODY}": 0,
    "created_after=2099-01-01T00:00:00Z": 0,
    "created_before=2020-01-01T00:00:00Z": 0,
}
OF_ENDPOINT = {"": 7_000, "status=error": 2_000}


def test_the_log_reads_no_more_than_it_counts(a: Tenant, quiet: str) -> None:
    asked = {f"/webhooks/deliveries?{query}": matches for query, matches in OF_AGENCY.items()}
    asked |= {f"/webhooks/{quiet}/deliveries?{query}": matches for query, matches in OF_ENDPOINT.items()}
    for path, matches in asked.items():
        total, read = read_by(a, path)
        assert (total, read <= matches + 3 * SHOWN) == (matches, True), (path, read)


def test_what_no_index_answers_is_looked_for_among_the_newest_alone(
    a: Tenant, quiet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/webhooks/{quiet}/deliveries?event=workspace.created&status=success"
    assert read_by(a, path) == (0, 7_000)
    monkeypatch.setattr("webhooks.services.log.MOST_LOOKED_AT", 500)
    total, read = read_by(a, path)
    assert (total, read <= 2 * 500) == (0, True), read
