"""The state of an endpoint follows its attempts and what never arrived, on every page that tells of it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests.agency.console.browsers import at_the_console, text
from tests.factories import EndpointFactory
from tests.factories.webhooks import a_failed_delivery
from tests.tenants import Tenant
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, in_turn, make_due, record_events, status, subscribe
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from webhooks.models import Delivery, Endpoint, QueuedDelivery
from webhooks.services.deliveries import redeliver
from webhooks.services.endpoint_health import MOST_UNDELIVERED_COUNTED, HealthStatus, endpoint_activity, health_of
from webhooks.services.endpoints import dismiss_failures
from workspaces.subaccounts.services import tenant_of

BAD = status(500)


def staff(a: Tenant) -> Client:
    return at_the_console(a.agency)


def said_of(a: Tenant, endpoint: Endpoint) -> tuple[str, str, str]:
    """What the list, the endpoint's page and home say."""
    console = staff(a)
    return (
        text(console.get("/console/webhooks")),
        text(console.get(f"/console/webhooks/{endpoint.uuid}")),
        text(console.get("/console/")),
    )


def test_attempts_that_failed_are_told_before_anything_has_ended(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver(in_turn([BAD] * 3)))
    start_dispatcher()
    record_events(a)
    waiting = attempted(a, 1)
    listed, page, home = said_of(a, Endpoint.objects.get())
    assert "Retrying" in listed
    assert "Nothing sent yet" not in listed
    assert "Retrying" in page
    assert "are failing. We are trying again." in home

    make_due(waiting)
    attempted(a, 2)
    assert health_of([*Endpoint.objects.all()])[waiting.endpoint_id].state == HealthStatus.RETRYING


def test_what_never_arrived_is_told_after_a_later_success_until_it_was_sent_again(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver(in_turn([BAD] * 3 + [status(204)] * 2)))
    start_dispatcher()
    record_events(a)
    for attempts in (1, 2):
        make_due(attempted(a, attempts))
    [lost] = ended(a, 1)
    endpoint = Endpoint.objects.get()
    assert "Failing (1 not delivered)" in said_of(a, endpoint)[0]

    record_events(a)
    ended(a, 2)
    listed, page, home = said_of(a, endpoint)
    assert "Recovered (1 not delivered)" in listed
    assert "1 event did not arrive." in page
    assert "works again, but 1 event was not delivered." in home

    redeliver(delivery=lost, now=now(), by=SYSTEM)
    ended(a, 3)
    listed, page, home = said_of(a, endpoint)
    assert "Healthy" in listed
    assert "Needs attention" not in home


@pytest.fixture
def endpoint(a: Tenant, db: None) -> Endpoint:
    """One that works, and that three events never reached."""
    for _ in range(3):
        lose(a, a.endpoint)
    Endpoint.objects.filter(pk=a.endpoint.pk).update(last_outcome="success", last_delivery_at=now())
    return Endpoint.objects.get(pk=a.endpoint.pk)


def lose(a: Tenant, endpoint: Endpoint, **changes: Any) -> Delivery:
    delivery = a_failed_delivery(a, endpoint, **changes)
    Delivery.objects.filter(pk=delivery.pk).update(envelope_id=uuid4())
    return delivery


def state_of(endpoint: Endpoint) -> tuple[HealthStatus, int]:
    endpoint.refresh_from_db()
    condition = health_of([endpoint])[endpoint.pk]
    return condition.state, condition.undelivered


def test_a_person_dismisses_what_was_read_and_nothing_newer(a: Tenant, endpoint: Endpoint) -> None:
    console, path = staff(a), f"/console/webhooks/{endpoint.uuid}/dismiss"
    asked = console.get(path)
    assert "3 events did not arrive." in text(asked)
    lose(a, endpoint)

    read = {name: hidden_field(asked, name) for name in ("until", "number")}
    assert console.post(path, read).status_code == 302
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 1)
    entry = ActivityEntry.objects.latest("pk")
    assert (entry.action, entry.details["number"]) == ("webhook.failures_dismissed", 3)

    again = console.get(path)
    console.post(path, {name: hidden_field(again, name) for name in ("until", "number")})
    assert state_of(endpoint) == (HealthStatus.HEALTHY, 0)
    assert "Needs attention" not in text(console.get("/console/"))
    assert console.get(path).status_code == 302
    assert Delivery.objects.filter(status="error").count() == 4


def hidden_field(answer: Any, name: str) -> str:
    found: str = answer.context["form"][name].value()
    assert f'name="{name}"' in answer.content.decode()
    return str(found)


def test_a_dismissal_covers_no_later_moment_than_now(endpoint: Endpoint) -> None:
    dismiss_failures(endpoint=endpoint, until=now() + timedelta(days=400), number=3, by=SYSTEM)
    endpoint.refresh_from_db()
    assert endpoint.failures_dismissed_at is not None
    assert endpoint.failures_dismissed_at < now() + timedelta(minutes=1)


def test_a_dismissed_failure_that_is_still_the_last_word_is_told_on_its_page_alone(
    a: Tenant, endpoint: Endpoint
) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(last_outcome="error")
    dismiss_failures(endpoint=endpoint, until=now(), number=3, by=SYSTEM)
    assert state_of(endpoint) == (HealthStatus.FAILING, 0)
    assert "Needs attention" not in text(staff(a).get("/console/"))


def test_a_dismissal_of_nothing_that_was_read_changes_nothing(a: Tenant, endpoint: Endpoint) -> None:
    console = staff(a)
    for until in ("", "yesterday", "2026-11-01T00:00:00"):
        answer = console.post(f"/console/webhooks/{endpoint.uuid}/dismiss", {"until": until, "number": "3"})
        assert answer.status_code == 422, until
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 3)


def test_who_may_only_look_dismisses_nothing(a: Tenant, b: Tenant, endpoint: Endpoint) -> None:
    path, read = f"/console/webhooks/{endpoint.uuid}/dismiss", {"until": now().isoformat(), "number": "3"}
    assert at_the_console(a.agency, "viewer").post(path, read).status_code == 403
    assert staff(b).post(path, read).status_code == 404
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 3)


def test_a_redelivery_that_waits_or_failed_brought_nothing(a: Tenant, endpoint: Endpoint) -> None:
    again = redeliver(delivery=Delivery.objects.latest("pk"), now=now(), by=SYSTEM)
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 3)
    ending = {"completed_at": now(), "attempts": 3}
    Delivery.objects.filter(pk=again.pk).update(status="error", failed_at=now(), **ending)
    QueuedDelivery.objects.all().delete()
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 3)
    Delivery.objects.filter(pk=again.pk).update(status="success", failed_at=None, **ending)
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 2)


def test_failed_tests_are_no_events(a: Tenant, endpoint: Endpoint) -> None:
    lose(a, endpoint, kind="test")
    assert state_of(endpoint) == (HealthStatus.RECOVERED, 3)


def test_a_disabled_endpoint_is_disabled(a: Tenant, endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(enabled=False)
    assert state_of(endpoint)[0] == HealthStatus.DISABLED
    assert "Needs attention" not in text(staff(a).get("/console/"))


def test_many_are_counted_so_far(a: Tenant, endpoint: Endpoint) -> None:
    one = Delivery.objects.latest("pk")
    fields = {
        field.attname: getattr(one, field.attname) for field in Delivery._meta.concrete_fields if not field.primary_key
    }
    Delivery.objects.bulk_create(
        Delivery(**{**fields, "uuid": uuid4(), "envelope_id": uuid4()}) for _ in range(MOST_UNDELIVERED_COUNTED)
    )
    assert state_of(endpoint)[1] == MOST_UNDELIVERED_COUNTED + 1
    assert "Recovered (100+ not delivered)" in text(staff(a).get("/console/webhooks"))


def test_the_conditions_of_many_take_one_statement_and_states_of_the_day_still_none_of_deliveries(
    a: Tenant, endpoint: Endpoint
) -> None:
    many = [endpoint, *(EndpointFactory.create(agency=a.agency) for _ in range(20))]
    with CaptureQueriesContext(connection) as captured:
        assert len(health_of(many)) == 21
        assert health_of([]) == {}
    assert len(captured) == 1
    with CaptureQueriesContext(connection) as captured:
        endpoint_activity(endpoints=many, now=now())
    assert not [query for query in captured.captured_queries if "webhooks_delivery" in query["sql"]]


def test_a_workspace_and_its_agency_s_hub_are_told_too(a: Tenant, endpoint: Endpoint) -> None:
    workspace = tenant_of(a.workspace)
    Endpoint.objects.filter(pk=endpoint.pk).update(
        workspace_id=workspace.workspace_id, workspace_uuid=workspace.workspace_uuid
    )
    assert "works again, but 3 events were not delivered." in text(
        staff(a).get(f"/console/sub-accounts/{a.workspace.uuid}")
    )
    customer = dashboard_client(a.workspace)
    assert "Recovered (3 not delivered)" in text(customer.get("/app/webhooks"))
    path = f"/app/webhooks/{endpoint.uuid}/dismiss"
    asked = customer.get(path)
    customer.post(path, {name: hidden_field(asked, name) for name in ("until", "number")})
    assert state_of(endpoint) == (HealthStatus.HEALTHY, 0)
