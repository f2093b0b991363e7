"""Deliveries in the console: the log, one with its attempts, a test, once more, and all that failed."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import at_the_console, flashes, hidden, text
from tests.factories.webhooks import EVENT, a_failed_delivery, an_endpoint
from tests.tenants import Tenant
from tests.webhooks.api.test_log import fill
from webhooks.models import Attempt, Delivery, Endpoint, QueuedDelivery
from webhooks.pages.deliveries import LogForm
from webhooks.pages.forms import RedeliverForm

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
PAGES = "/console/webhooks"
NOBODYS = UUID(int=7)


@pytest.fixture
def staff(a: Tenant) -> Client:
    return at_the_console(a.agency)


def test_the_list_holds_the_last_25_across_endpoints_and_leads_further(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    deliveries = [a_failed_delivery(a, endpoint) for _ in range(26)]
    page = staff.get(PAGES).content.decode()
    assert str(deliveries[0].uuid) not in page
    assert all(str(delivery.uuid) in page for delivery in deliveries[1:])
    assert "25 of 26" in page
    assert str(deliveries[0].uuid) in staff.get(f"{PAGES}?size=50").content.decode()
    for address in (f"{PAGES}?page=2", f"{PAGES}?page=999", f"{PAGES}/{endpoint.uuid}?page=2&status=error"):
        page = staff.get(address).content.decode()
        assert str(deliveries[0].uuid) in page
        assert str(deliveries[1].uuid) not in page


# Whether the log that is narrowed to this holds a delivery that has just failed.
IS_THERE = {
    "status=error": True,
    "status=success": False,
    f"event={EVENT}": True,
    "event=addon.granted": False,
    "status=nonsense": True,
    "event=%00": True,
    "envelope_id=zzz": True,
    f"envelope_id={NOBODYS}": False,
    f"workspace={NOBODYS}": False,
    "created_after=2020-01-01T00:00": True,
    "created_after=9999-12-31T23:59": False,
    "period=hour": True,
    "period=year": True,
    "period=week&created_after=2020-01-01T00:00": True,
    "period=hour&created_before=2020-01-01T00:00": False,
    "created_before=2020-01-01T00:00": False,
    "created_before=yesterday": True,
    f"endpoint={NOBODYS}": True,
    "endpoint=%00": True,
}


def test_filters_stand_in_the_address(a: Tenant, staff: Client) -> None:
    delivery = str(a_failed_delivery(a).uuid)
    assert {query: delivery in staff.get(f"{PAGES}?{query}").content.decode() for query in IS_THERE} == IS_THERE


def test_what_cannot_be_read_is_said_beside_its_filter(a: Tenant, staff: Client) -> None:
    a_failed_delivery(a)
    page = staff.get(f"{PAGES}?envelope_id=zzz&endpoint={NOBODYS}")
    assert '<p class="wrong" id="envelope_id_error">Enter a valid UUID.</p>' in page.content.decode()
    assert 'aria-invalid="true" aria-describedby="endpoint_error"' in page.content.decode()
    assert 'class="wrong"' not in staff.get(f"{PAGES}?envelope_id={NOBODYS}").content.decode()


def test_the_log_of_all_is_narrowed_to_one_webhook_and_kept_as_a_view(a: Tenant, b: Tenant, staff: Client) -> None:
    one, other, foreign = a_failed_delivery(a), a_failed_delivery(a), a_failed_delivery(b)
    page = staff.get(f"{PAGES}?endpoint={one.endpoint.uuid}")
    assert list(page.context["rows"]) == [one]
    assert f'<option value="{other.endpoint.uuid}">' in page.content.decode()
    assert str(foreign.endpoint.uuid) not in page.content.decode()
    query = hidden(page, "query")
    staff.post("/console/views", {"page": "console:webhooks", "query": query, "name": "Of the CRM"})
    assert f'<a href="?endpoint={one.endpoint.uuid}">Of the CRM</a>' in staff.get(PAGES).content.decode()


def test_the_log_of_one_webhook_has_neither_that_filter_nor_views(a: Tenant, staff: Client) -> None:
    one, other = a_failed_delivery(a), a_failed_delivery(a)
    page = staff.get(f"{PAGES}/{one.endpoint.uuid}?status=error&endpoint={other.endpoint.uuid}")
    assert list(page.context["rows"]) == [one]
    assert 'name="endpoint"' not in page.content.decode()
    assert "Save this view" not in text(page)


def test_each_filter_in_use_is_shown_with_a_way_to_clear_it_alone(a: Tenant, staff: Client) -> None:
    a_failed_delivery(a)
    page = staff.get(f"{PAGES}?status=error&event={EVENT}&created_before=2099-01-01T00:00&page=1")
    shown = page.content.decode()
    for name, rest in {
        "Result": f"event={EVENT}&amp;created_before=2099-01-01T00%3A00",
        "Event": "status=error&amp;created_before=2099-01-01T00%3A00",
        "Before (UTC)": f"status=error&amp;event={EVENT}",
    }.items():
        assert f'<a href="{PAGES}?{rest}" aria-label="Clear the filter {name}">' in shown
    assert f'<a href="{PAGES}">Clear all</a>' in shown
    assert "Clear the filter" not in staff.get(PAGES).content.decode()
    assert (
        f'<a href="{PAGES}" aria-label="Clear the filter Result">'
        in staff.get(f"{PAGES}?status=error").content.decode()
    )


def test_a_period_ends_now(a: Tenant, staff: Client) -> None:
    made = a_failed_delivery(a)
    two_hours_ago = now() - timedelta(hours=2)
    Delivery.objects.filter(pk=made.pk).update(created_at=two_hours_ago)
    for period, there in {"hour": False, "day": True, "week": True}.items():
        page = staff.get(f"{PAGES}?period={period}")
        assert (page.context["rows"] == [made]) is there
    at = two_hours_ago + timedelta(minutes=30)
    asked = LogForm({"period": "hour"}, catalogue={}, endpoints=Endpoint.objects.all(), hides=(), now=at)
    assert asked.filters == {"created_after": at - timedelta(hours=1)}


def test_a_row_names_the_sub_account_the_answer_and_the_attempts(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    for status in ("error", "pending"):
        made = a_failed_delivery(a, endpoint, workspace_uuid=a.workspace.uuid)
        changes = {} if status == "error" else {"status": status, "completed_at": None, "failed_at": None}
        Delivery.objects.filter(pk=made.pk).update(attempts=2, max_attempts=3, **changes)
    page = staff.get(PAGES)
    assert f'<a href="/console/sub-accounts/{a.workspace.uuid}">{a.workspace.name}</a>' in page.content.decode()
    assert "Failed 500, 2 of 3 Your endpoint answered 500 Internal Server Error." in text(page)
    assert "Pending 500, 2 of 3 Your endpoint answered 500 Internal Server Error." in text(page)


def test_the_newest_attempt_comes_first_and_is_open(a: Tenant, staff: Client) -> None:
    made = a_failed_delivery(a)
    first = made.attempt_log.get()
    Attempt.objects.create(delivery_id=made.pk, number=2, started_at=now(), duration_ms=1, url=first.url)
    shown = staff.get(f"{PAGES}/deliveries/{made.uuid}").content.decode()
    attempts = re.findall(r'<details class="panel attempt"( open)?>\s*<summary class="panel-head"><h2>([^<]+)', shown)
    assert attempts == [(" open", "Attempt 2"), ("", "Attempt 1")]


def test_a_page_of_the_log_costs_the_same_however_long_it_is(
    a: Tenant, staff: Client, django_assert_max_num_queries: Any
) -> None:
    endpoint = an_endpoint(a)
    for _ in range(31):
        a_failed_delivery(a, endpoint)
    with django_assert_max_num_queries(16):
        staff.get(f"{PAGES}?status=error&endpoint={endpoint.uuid}")


def test_a_delivery_shows_its_attempt_and_its_envelope_and_runs_nothing_of_the_answer(a: Tenant, staff: Client) -> None:
    page = staff.get(f"{PAGES}/deliveries/{a_failed_delivery(a).uuid}")
    shown = text(page)
    assert "Your endpoint answered 500 Internal Server Error." in shown
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


def test_a_page_during_whose_making_the_attempt_ends_shows_its_end_and_stays(a: Tenant, staff: Client) -> None:
    """Else it would be renewed under the hands of the person who reads the attempt."""
    done = a_failed_delivery(a)
    delivery = Delivery.objects.filter(pk=done.pk)
    delivery.update(status="pending", attempts=0, response_status=None, error=None, completed_at=None, failed_at=None)

    def end_the_attempt(execute: Callable[..., object], sql: str, *given: Any) -> object:
        if "webhooks_attempt" in sql and delivery.filter(attempts=0).exists():
            done.save()
        return execute(sql, *given)

    with connection.execute_wrapper(end_the_attempt):
        page = staff.get(f"{PAGES}/deliveries/{done.uuid}")
    assert "Completed" in text(page)
    assert "Refresh" not in page


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


def test_all_that_failed_since_a_moment_are_counted_then_sent_again_once(a: Tenant, b: Tenant, staff: Client) -> None:
    recent = [a_failed_delivery(a, an_endpoint(a)) for _ in range(2)]
    fill(a, an_endpoint(a), 1, status="error", at=now() - timedelta(days=1))
    a_failed_delivery(b)
    a_failed_delivery(a, an_endpoint(a, enabled=False))
    wanted = since(now() - timedelta(hours=1))
    question = staff.get(f"{PAGES}/redeliver-failed", wanted)
    assert "2 deliveries failed" in text(question)
    assert "Redeliver 2 deliveries" in text(question)
    assert not Delivery.objects.filter(kind="redelivery").exists()
    progress = staff.post(f"{PAGES}/redeliver-failed", wanted, follow=True)
    assert "0 of 2 deliveries finished" in text(progress)
    assert progress["Refresh"] == "2"
    again = Delivery.objects.filter(kind="redelivery")
    assert {delivery.endpoint_id for delivery in again} == {delivery.endpoint_id for delivery in recent}
    assert ActivityEntry.objects.filter(action="webhook.failed_redelivered", details__number=2).exists()
    assert "Nothing to redeliver" in text(staff.get(f"{PAGES}/redeliver-failed", wanted))
    answer = staff.post(f"{PAGES}/redeliver-failed", wanted, follow=True)
    assert flashes(answer) == ["There was nothing to redeliver."]


def test_the_progress_says_what_became_of_them_until_all_have_ended(a: Tenant, staff: Client) -> None:
    endpoint = an_endpoint(a)
    for _ in range(3):
        a_failed_delivery(a, endpoint)
    Delivery.objects.update(envelope_id=RandomUUID())
    answer = staff.post(f"{PAGES}/redeliver-failed", since(now() - timedelta(hours=1)))
    address = answer["Location"]
    again = list(Delivery.objects.filter(kind="redelivery").order_by("id"))
    a_failed_delivery(a, endpoint)  # not of this redelivery
    Delivery.objects.filter(pk=again[0].pk).update(status="success", completed_at=now())
    page = staff.get(address)
    assert "1 of 3 deliveries finished" in text(page)
    assert page["Refresh"] == "2"
    Delivery.objects.filter(kind="redelivery", status="pending").update(
        status="error", completed_at=now(), failed_at=now()
    )
    page = staff.get(address)
    assert "All 3 deliveries finished" in text(page)
    assert "Refresh" not in page
    assert '<progress max="3" value="3"' in page.content.decode()


def test_failed_deliveries_of_one_webhook_can_be_chosen(a: Tenant, staff: Client) -> None:
    one, other = an_endpoint(a), an_endpoint(a)
    a_failed_delivery(a, one), a_failed_delivery(a, other)
    fields = {**since(now() - timedelta(hours=1)), "webhook": str(one.uuid)}
    assert "1 delivery failed" in text(staff.get(f"{PAGES}/redeliver-failed", fields))
    staff.post(f"{PAGES}/redeliver-failed", fields)
    assert [delivery.endpoint for delivery in Delivery.objects.filter(kind="redelivery")] == [one]
    chosen = staff.get(f"{PAGES}/redeliver-failed", {"webhook": str(one.uuid)}).content.decode()
    assert f'<option value="{one.uuid}" selected>' in chosen


def test_a_moment_that_cannot_be_read_is_refused(staff: Client) -> None:
    unreadable: list[dict[str, str]] = [{}, {"since": "yesterday"}, {"since": "2026-01-01T00:00", "webhook": "zzz"}]
    for fields in unreadable:
        assert staff.post(f"{PAGES}/redeliver-failed", fields).status_code == 422, fields
        assert staff.get(f"{PAGES}/redeliver-failed", fields).status_code == (422 if fields else 200), fields


def test_times_of_the_log_are_in_utc_whatever_the_viewer_s_clock_shows(a: Tenant, staff: Client) -> None:
    staff.cookies[settings.BROWSER_TIME_ZONE_COOKIE_NAME] = "Europe/Berlin"
    made = a_failed_delivery(a)
    at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    Delivery.objects.filter(pk=made.pk).update(created_at=at)
    # Numbers name the day, too: only the filters' own reading is asked here.
    form = LogForm(
        {"created_after": "2026-11-20T12:30"}, catalogue={}, endpoints=Endpoint.objects.all(), hides=(), now=at
    )
    with timezone.override("Europe/Berlin"):
        assert form.filters["created_after"] == datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
        again = RedeliverForm(endpoints=Endpoint.objects.all(), initial={"since": at})
        assert 'value="2026-11-20T12:00"' in str(again["since"])

    Delivery.objects.filter(pk=made.pk).update(status="pending", completed_at=None, failed_at=None, attempts=1)
    QueuedDelivery.objects.create(
        delivery=made, agency_id=a.agency.pk, endpoint_id=made.endpoint_id, due_at=at, is_ready=False
    )
    assert "Next attempt at 12:00:00 UTC" in text(staff.get(PAGES))
