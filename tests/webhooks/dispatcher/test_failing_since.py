"""Since when an endpoint fails: kept by the statement that ends its deliveries, by the database's clock."""

from datetime import datetime

import pytest
from django.utils.timezone import now

from config.http.error_codes import BLOCKED_ADDRESS
from tests.tenants import Tenant
from tests.webhooks.conftest import StartReceiver
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher, record_wanted_events
from webhooks.dispatcher.queries import LeasedDelivery
from webhooks.models import Endpoint


@pytest.fixture
def deliveries(a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver) -> list[LeasedDelivery]:
    """Six leased deliveries of one endpoint, the oldest first."""
    record_wanted_events(a, start_receiver, 6)
    return sorted(other.take(), key=lambda row: row.id)


def since() -> datetime | None:
    return Endpoint.objects.get().failing_since


def fail(other: OtherDispatcher, row: LeasedDelivery) -> datetime:
    """End a delivery with an error; gives since when its endpoint fails by then."""
    assert other.record(row, BLOCKED_ADDRESS) == 1
    found = since()
    assert found is not None
    return found


def test_it_is_when_the_first_delivery_after_a_success_failed(
    other: OtherDispatcher, deliveries: list[LeasedDelivery]
) -> None:
    before = now()
    first = fail(other, deliveries[0])
    assert before <= first <= now()
    assert fail(other, deliveries[1]) == first
    other.succeed(deliveries[2])
    assert since() is None
    assert fail(other, deliveries[3]) > first


def test_a_success_of_an_older_delivery_begins_it_anew(
    other: OtherDispatcher, deliveries: list[LeasedDelivery]
) -> None:
    first = fail(other, deliveries[1])
    other.succeed(deliveries[0])
    anew = since()
    assert anew is not None
    assert anew > first


def test_an_older_delivery_that_fails_later_begins_nothing(
    other: OtherDispatcher, deliveries: list[LeasedDelivery]
) -> None:
    other.succeed(deliveries[1])
    assert other.record(deliveries[0], BLOCKED_ADDRESS) == 1
    assert since() is None


def test_an_attempt_that_is_made_again_ends_nothing(other: OtherDispatcher, deliveries: list[LeasedDelivery]) -> None:
    assert other.record(deliveries[0], "refused") == 1
    assert since() is None
