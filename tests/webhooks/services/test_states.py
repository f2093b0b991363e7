"""How endpoints are doing: counted when deliveries end, read without looking at any delivery."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests.factories import EndpointFactory
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, in_turn, make_due, record_events, status, subscribe
from webhooks.models import Delivery, Endpoint, HourlyStats, QueuedDelivery
from webhooks.services import endpoint_health
from webhooks.services.endpoint_health import endpoint_activity


def test_ended_deliveries_are_counted_by_the_hour(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    good = subscribe(a, start_receiver())
    bad = subscribe(a, start_receiver(in_turn([status(500)] * 3 + [status(204)])), "addon.granted")
    start_dispatcher()
    record_events(a, 5)
    ended(a, 5)
    record_events(a, event="addon.granted")
    failing = Delivery.objects.select_related("queued").filter(event_name="addon.granted")
    for attempts in (1, 2):
        make_due(until(failing.filter(attempts=attempts).first))
    ended(a, 6)
    record_events(a, event="addon.granted")
    ended(a, 7)

    endpoints = {str(endpoint.uuid): endpoint for endpoint in Endpoint.objects.of(a.agency)}
    states = endpoint_activity(endpoints=list(endpoints.values()), now=now())
    of_good, of_bad = states[endpoints[good["uuid"]].pk], states[endpoints[bad["uuid"]].pk]
    assert (sum(hour[0] for hour in of_good.hours), sum(hour[1] for hour in of_good.hours)) == (5, 0)
    assert (of_good.success_rate, of_bad.success_rate) == (100, 50)
    assert len(of_bad.hours) == 24
    assert of_bad.waiting == 0


def test_a_failed_attempt_that_is_tried_again_does_not_count(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver(in_turn([status(500), status(204)])))
    start_dispatcher()
    record_events(a)
    waiting = attempted(a, 1)
    assert not HourlyStats.objects.exists()
    make_due(waiting)
    ended(a)
    stats = HourlyStats.objects.get()
    assert (stats.successes, stats.errors) == (1, 0)


@pytest.fixture
def endpoint(a: Tenant, db: None) -> Endpoint:
    return a.endpoint


def test_the_last_day_is_shown_hour_by_hour(endpoint: Endpoint) -> None:
    at = now()
    this_hour = at.replace(minute=0, second=0, microsecond=0)
    for hours_ago, good, bad in ((0, 1, 2), (23, 3, 4), (24, 50, 50)):
        HourlyStats.objects.create(
            endpoint=endpoint, hour=this_hour - timedelta(hours=hours_ago), successes=good, errors=bad
        )
    state = endpoint_activity(endpoints=[endpoint], now=at)[endpoint.pk]
    assert state.hours[-1] == (1, 2)
    assert state.hours[0] == (3, 4)
    assert state.success_rate == 40
    assert sum(map(sum, state.hours)) == 10


def queue_deliveries(endpoint: Endpoint, first: int, last: int, *, is_ready: bool = True) -> None:
    QueuedDelivery.objects.bulk_create(
        QueuedDelivery(delivery_id=-number, agency_id=1, endpoint_id=endpoint.pk, due_at=now(), is_ready=is_ready)
        for number in range(first, last + 1)
    )


def test_what_waits_is_counted_up_to_a_thousand(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand are fifty here."""
    assert endpoint_health.MOST_WAITING_COUNTED == 1_000
    monkeypatch.setattr(endpoint_health, "MOST_WAITING_COUNTED", 50)
    queue_deliveries(endpoint, 1, 7)
    queue_deliveries(endpoint, 8, 10, is_ready=False)
    state = endpoint_activity(endpoints=[endpoint], now=now())[endpoint.pk]
    assert (state.waiting, state.waiting_is_more) == (10, False)
    queue_deliveries(endpoint, 11, 60)
    state = endpoint_activity(endpoints=[endpoint], now=now())[endpoint.pk]
    assert (state.waiting, state.waiting_is_more) == (51, True)


def test_states_cost_two_statements_that_touch_no_delivery(a: Tenant, endpoint: Endpoint) -> None:
    endpoints = [endpoint, *(EndpointFactory.create(agency=a.agency) for _ in range(20))]
    with CaptureQueriesContext(connection) as captured:
        assert len(endpoint_activity(endpoints=endpoints, now=now())) == 21
    statements = [query["sql"] for query in captured.captured_queries]
    assert len(statements) == 2
    assert not [statement for statement in statements if "webhooks_delivery" in statement]


def test_nothing_is_asked_about_no_endpoints(db: None, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(2):
        assert endpoint_activity(endpoints=[], now=now()) == {}
