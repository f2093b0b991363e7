"""Deliveries in the console: the last thirty, one with its attempts, a test, once more, and all that failed."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.tenants import Tenant
from tests.webhooks.factories import EVENT, a_failed_delivery, an_endpoint
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
PAGES = "/console/webhooks"


@pytest.fixture
def staff(a: Tenant) -> Client:
    return at_the_console(a.agency)


def test_the_list_holds_the_last_thirty_across_endpoints(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    deliveries = [a_failed_delivery(a, endpoint) for _ in range(31)]
    page = staff.get(PAGES).content.decode()
    assert str(deliveries[0].uuid) not in page
    assert all(str(delivery.uuid) in page for delivery in deliveries[1:])


@pytest.mark.parametrize(
    ("query", "there"),
    [("status=error", True), ("status=success", False), (f"event={EVENT}", True), ("event=addon.granted", False),
     ("status=nonsense", True), ("event=%00", True)],
)  # fmt: skip
def test_filters_stand_in_the_address(a: Tenant, staff: Client, query: str, there: bool) -> None:
    delivery = a_failed_delivery(a)
    assert (str(delivery.uuid) in staff.get(f"{PAGES}?{query}").content.decode()) is there


def test_a_delivery_shows_its_attempt_and_its_envelope_and_runs_nothing_of_the_answer(a: Tenant, staff: Client) -> None:
    page = staff.get(f"{PAGES}/deliveries/{a_failed_delivery(a).uuid}")
    shown = text(page)
    assert "The receiver failed." in shown
    assert "12.5 ms" in shown
    assert "<script>alert(1)" not in page.content.decode()
    assert "alert(1)" in shown
    assert '"event": "workspace.created"' in shown


def test_a_test_leads_to_its_delivery_which_looks_again_by_itself(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a, events=["addon.granted", EVENT])
    answer = staff.post(f"{PAGES}/{endpoint.uuid}/test", {"event": EVENT})
    delivery = Delivery.objects.get(endpoint=endpoint)
    assert answer["Location"] == f"{PAGES}/deliveries/{delivery.uuid}"
    assert (delivery.event_name, delivery.test, delivery.max_attempts) == (EVENT, True, 1)
    assert staff.get(answer["Location"])["Refresh"] == "1"
    done = a_failed_delivery(a, endpoint)
    assert "Refresh" not in staff.get(f"{PAGES}/deliveries/{done.uuid}")


def test_redeliver_sends_the_same_envelope_again(a: Tenant, staff: Client) -> None:
    failed = a_failed_delivery(a)
    staff.post(f"{PAGES}/deliveries/{failed.uuid}/redeliver")
    again = Delivery.objects.get(kind="redelivery")
    assert str(again.envelope_id) == str(failed.envelope_id)
    assert bytes(again.body or b"") == bytes(failed.body or b"")
    assert again.status == "pending"


def test_a_disabled_webhook_s_delivery_is_not_sent_again(a: Tenant, staff: Client) -> None:
    failed = a_failed_delivery(a, an_endpoint(a, enabled=False))
    answer = staff.post(f"{PAGES}/deliveries/{failed.uuid}/redeliver", follow=True)
    assert flashes(answer) == ["This webhook has been removed or is disabled."]
    assert "Redeliver" not in text(staff.get(f"{PAGES}/deliveries/{failed.uuid}"))


def since(moment: datetime) -> dict[str, str]:
    return {"since": moment.strftime("%Y-%m-%dT%H:%M")}


def test_all_that_failed_since_a_moment_are_sent_again_once(a: Tenant, b: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    recent = [a_failed_delivery(a, an_endpoint(a)) for _ in range(2)]
    a_failed_delivery(a, endpoint, completed_at=now() - timedelta(days=2))
    a_failed_delivery(b)
    a_failed_delivery(a, an_endpoint(a, enabled=False))
    answer = staff.post(f"{PAGES}/redeliver-failed", since(now() - timedelta(hours=1)), follow=True)
    assert flashes(answer) == ["2 deliveries are on their way again."]
    again = Delivery.objects.filter(kind="redelivery")
    assert {delivery.endpoint_id for delivery in again} == {delivery.endpoint_id for delivery in recent}
    assert ActivityEntry.objects.filter(action="webhook.failed_redelivered", details__number=2).exists()
    answer = staff.post(f"{PAGES}/redeliver-failed", since(now() - timedelta(hours=1)), follow=True)
    assert flashes(answer) == ["0 deliveries are on their way again."]


def test_failed_deliveries_of_one_webhook_can_be_chosen(a: Tenant, staff: Client) -> None:
    one, other = an_endpoint(a), an_endpoint(a)
    a_failed_delivery(a, one), a_failed_delivery(a, other)
    fields = {**since(now() - timedelta(hours=1)), "webhook": str(one.uuid)}
    staff.post(f"{PAGES}/redeliver-failed", fields)
    assert [delivery.endpoint for delivery in Delivery.objects.filter(kind="redelivery")] == [one]


@pytest.mark.parametrize("fields", [{}, {"since": "yesterday"}, {"since": "2026-01-01T00:00", "webhook": "zzz"}])
def test_a_moment_that_cannot_be_read_is_refused(staff: Client, fields: dict[str, str]) -> None:
    assert staff.post(f"{PAGES}/redeliver-failed", fields).status_code == 422
