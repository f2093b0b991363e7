"""The delivery log over the API: pages, filters, and how far they lead."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils.timezone import now

from agency import tenants
from agency.actors import SYSTEM
from agency.models import Event
from agency.services import record_event
from tests import furnished
from tests.factories import WorkspaceFactory
from tests.factories.webhooks import an_endpoint
from tests.tenants import Tenant
from tests.webhooks.delivering import make_deliveries
from webhooks.models import Delivery, Endpoint
from webhooks.models.partitions import NEW_ID, first_id, make_partitions
from webhooks.services.deliveries import send_test

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LOG = "/webhooks/deliveries"
INSERT = """
INSERT INTO webhooks_delivery (id, uuid, agency_id, endpoint_id, event_name, envelope_id, workspace_uuid, kind, status,
    attempts, max_attempts, created_at, completed_at, failed_at)
SELECT CASE WHEN %(is_today)s THEN NEW_ID ELSE %(first)s + n END, gen_random_uuid(), %(agency)s, %(endpoint)s,
    %(event)s, gen_random_uuid(), %(workspace)s,
    'automatic', %(status)s, 1, 3, %(at)s + make_interval(secs => n), %(at)s,
    CASE WHEN %(status)s = 'error' THEN %(at)s END
FROM generate_series(0, %(count)s - 1) AS n
"""


def fill(
    tenant: Tenant,
    endpoint: Endpoint,
    count: int,
    *,
    at: datetime | None = None,
    event: str = "workspace.created",
    status: str = "success",
    workspace: UUID | None = None,
) -> None:
    """Put so many deliveries into the log, a second apart from a moment on, numbered as those of that day are."""
    at = at or now()
    make_partitions(at.date(), at.date())
    made = Delivery.objects.filter(pk__gte=first_id(at.date()), pk__lt=first_id(at.date() + timedelta(days=1))).count()
    values: dict[str, Any] = {
        "is_today": at.date() == now().date(),
        "first": first_id(at.date()) + 2**30 + 1_000 * made,
        "agency": tenant.agency.pk,
        "endpoint": endpoint.pk,
        "event": event,
        "workspace": workspace,
        "status": status,
        "at": at,
        "count": count,
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT.replace("NEW_ID", NEW_ID), values)


def listed(tenant: Tenant, query: str = "", path: str = LOG) -> dict[str, Any]:
    answer = tenant.api.get(f"{path}?{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def total(tenant: Tenant, query: str, path: str = LOG) -> int:
    found = listed(tenant, query, path)
    assert len(found["data"]) == min(found["meta"]["total"], 30)
    number: int = found["meta"]["total"]
    return number


def test_the_log_comes_in_pages_of_thirty_the_newest_first(a: Tenant) -> None:
    endpoint = an_endpoint(a)
    for days in (0, 1, 3):
        fill(a, endpoint, 25, at=now() - timedelta(days=days))
    newest = [str(uuid) for uuid in Delivery.objects.order_by("-id").values_list("uuid", flat=True)]
    pages = [listed(a, f"page={page}") for page in (1, 2, 3)]
    assert [row["id"] for page in pages for row in page["data"]] == newest
    assert pages[1]["meta"] == {"current_page": 2, "from": 31, "to": 60, "per_page": 30, "last_page": 3, "total": 75}
    assert pages[0]["links"]["prev"] is pages[2]["links"]["next"] is None
    assert pages[1]["links"]["next"].endswith("/webhooks/deliveries?page=3")
    times = [row["created_at"] for page in pages for row in page["data"]]
    assert times == sorted(times, reverse=True)
    beyond = listed(a, "page=4")
    assert (beyond["data"], beyond["meta"]["from"], beyond["meta"]["total"]) == ([], None, 75)
    assert [len(listed(a, query)["data"]) for query in ("per_page=7", "per_page=500", "per_page=x", "limit=3")] == [
        7,
        75,
        30,
        30,
    ]
    assert listed(a, "per_page=50&page=2", f"/webhooks/{endpoint.uuid}/deliveries")["meta"]["from"] == 51


@pytest.fixture
def filled(a: Tenant) -> tuple[Endpoint, Endpoint]:
    one, other = an_endpoint(a), an_endpoint(a)
    fill(a, one, 40, workspace=a.workspace.uuid)
    fill(a, other, 20, event="addon.granted")
    fill(a, other, 12, status="error", at=now() - timedelta(days=2))
    fill(a, one, 5, status="error", event="addon.granted", workspace=uuid4())
    send_test(endpoint=one, event="workspace.created", now=now(), by=SYSTEM)
    return one, other


# How many of the log of all match.
MATCHES = {
    "": 78,
    "status=error": 17,
    "status=success": 60,
    "status=pending": 1,
    "status=pending&event=addon.granted": 0,
    "status=": 78,
    "status=nonsense": 0,
    "status=ERROR": 0,
    "event=addon.granted": 25,
    "event=nonsense": 0,
    "event=%00": 0,
    "event=addon.granted&status=error": 5,
    "event=workspace.created&status=error": 12,
    "event=addon.granted&status=success": 20,
    "workspace=zzz": 0,
    "workspace=8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10": 0,
    "envelope_id=8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10": 0,
    "envelope_id=": 78,
    "unknown=1": 78,
}
# How many of the first endpoint's log match.
OF_ENDPOINT = {
    "": 46,
    "status=error": 5,
    "status=success": 40,
    "status=pending": 1,
    "event=addon.granted": 5,
    "event=addon.granted&status=error": 5,
    "event=addon.granted&status=success": 0,
}


def test_the_log_is_filtered_and_that_of_an_endpoint_alike(
    a: Tenant, b: Tenant, filled: tuple[Endpoint, Endpoint]
) -> None:
    """A sub-account's deliveries are found, and those of a foreign one are not."""
    fill(b, an_endpoint(b), 3, status="error")
    assert {query: total(a, query) for query in MATCHES} == MATCHES
    of_endpoint = f"/webhooks/{filled[0].uuid}/deliveries"
    assert {query: total(a, query, of_endpoint) for query in OF_ENDPOINT} == OF_ENDPOINT
    own = f"workspace={str(a.workspace.uuid).upper()}"
    assert total(a, own) == total(a, f"{own}&status=success&event=workspace.created") == 40
    assert total(a, f"{own}&status=error") == total(a, own, f"/webhooks/{filled[1].uuid}/deliveries") == 0
    assert total(b, own) == 0
    answers = [b.api.get(f"{LOG}?workspace={uuid}").json()["data"] for uuid in (a.workspace.uuid, uuid4())]
    assert answers == [[], []]


def test_a_delivery_knows_the_sub_account_and_the_envelope_of_its_event(a: Tenant) -> None:
    endpoints = [an_endpoint(a, events=["workspace.suspended"]) for _ in range(2)]
    for customer in (a.workspace, WorkspaceFactory.create(agency=a.agency)):
        a.api.post(f"/workspaces/{customer.uuid}/suspend")
    make_deliveries(connection.connection)
    event = Event.objects.get(name="workspace.suspended", workspace_uuid=a.workspace.uuid)
    about = f"workspace={a.workspace.uuid}"
    assert total(a, about) == total(a, f"envelope_id={event.uuid}") == 2
    first = listed(a, about, f"/webhooks/{endpoints[0].uuid}/deliveries")["data"][0]
    assert a.api.post(f"{LOG}/{first['id']}/redeliver").status_code == 202
    assert total(a, about) == total(a, f"envelope_id={event.uuid}&event=workspace.suspended") == 3
    assert total(a, f"envelope_id={event.uuid}&workspace={uuid4()}") == 0
    tested = a.api.post(f"/webhooks/{endpoints[0].uuid}/test").json()["data"]
    assert total(a, f"envelope_id={tested['envelope_id']}&status=pending") == 1


def test_an_envelope_of_somebody_else_reads_like_none(a: Tenant, b: Tenant) -> None:
    an_endpoint(b)
    data = {"workspace": b.workspace}
    record_event(tenant=tenants.Tenant(b.agency.pk), name="workspace.created", data=data, now=now())
    make_deliveries(connection.connection)
    row = listed(b)["data"][0]
    assert total(b, f"envelope_id={row['envelope_id']}") == 1
    assert total(a, f"envelope_id={row['envelope_id']}") == 0


def test_a_window_of_time_holds_what_was_made_in_it(a: Tenant) -> None:
    endpoint = an_endpoint(a)
    noon = (now() - timedelta(days=2)).replace(hour=12, minute=0, second=0, microsecond=0)
    for days in (0, 1, 2):
        fill(a, endpoint, 100, at=noon - timedelta(days=days))
    stamp = {
        name: (noon + shift).isoformat().replace("+00:00", "Z")
        for name, shift in {"start": timedelta(0), "later": timedelta(seconds=40), "never": timedelta(days=9)}.items()
    }
    yesterday = (noon - timedelta(days=1, seconds=-10)).strftime("%Y-%m-%dT%H:%M:%S%%2B00:00")
    assert total(a, f"created_after={stamp['start']}") == 100
    assert total(a, f"created_after={stamp['later']}") == 60
    assert total(a, f"created_before={stamp['later']}") == 240
    assert total(a, f"created_after={yesterday}&created_before={stamp['later']}") == 130
    assert total(a, f"created_after={stamp['later']}&created_before={stamp['start']}") == 0
    assert total(a, f"created_before={stamp['never']}") == 300
    assert total(a, f"created_after={stamp['never']}") == 0
    assert total(a, "created_after=0001-01-01T00:00:00Z") == 300
    assert total(a, "created_before=9999-12-31T23:59:59Z") == 300
    assert total(a, "created_before=0001-01-01T14:00:00%2B14:00") == 0


def test_a_time_that_cannot_be_read_is_422(a: Tenant) -> None:
    for path in (LOG, f"/webhooks/{an_endpoint(a).uuid}/deliveries"):
        for value in ("yesterday", "2026-11-20", "2026-11-20T10:00:00", "2026-13-01T00:00:00Z"):
            for name in ("created_after", "created_before"):
                answer = a.api.get(f"{path}?{name}={value}")
                assert (answer.status_code, list(answer.json()["errors"])) == (422, [name]), (path, value)


def test_ten_thousand_are_counted_and_a_time_leads_further(a: Tenant) -> None:
    fill(a, an_endpoint(a), 10_050, at=now() - timedelta(days=1, hours=4))
    found = listed(a, "page=334")
    assert (found["meta"]["total"], found["meta"]["last_page"], len(found["data"])) == (10_000, 334, 10)
    assert listed(a, "page=335")["data"] == []
    older = listed(a, f"created_before={found['data'][-1]['created_at']}")
    assert (older["meta"]["total"], older["data"][0]["id"] != found["data"][-1]["id"]) == (50, True)


@pytest.mark.usefixtures("filled")
def test_a_page_costs_a_few_statements(a: Tenant, django_assert_num_queries: Any) -> None:
    """The key, the last two days, those before, the page's rows; the queue, the envelope or a moment beside them."""
    for query, statements in {
        "": 4,
        "status=error": 4,
        "status=pending": 5,
        "envelope_id=8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10": 4,
        "created_after=2026-01-01T00:00:00Z": 5,
        "event=nonsense": 3,
    }.items():
        with django_assert_num_queries(statements, info=query):
            listed(a, query)
