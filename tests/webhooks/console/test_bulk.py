"""Deliveries that are chosen in the log and sent again together."""

import pytest
from django.test import Client

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import hidden, text
from tests.agency.jobs.asking import begin, choice, done, outcome
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.tenants import Tenant
from webhooks.models import Delivery, QueuedDelivery

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
REDELIVER = "deliveries.redeliver"


def again() -> list[Delivery]:
    return list(Delivery.objects.filter(kind="redelivery").order_by("pk"))


def test_the_log_offers_it_to_whoever_may(a: Tenant, admin: Client, viewer: Client) -> None:
    endpoint = an_endpoint(a)
    delivery = a_failed_delivery(a, endpoint)
    for path, query in {
        "/console/webhooks?status=error": "status=error",
        f"/console/webhooks/{endpoint.uuid}?status=error": f"status=error&amp;endpoint={endpoint.uuid}",
    }.items():
        page = admin.get(path)
        assert f'name="item" value="{delivery.uuid}"' in page.content.decode()
        assert hidden(page, "query") == query
        assert "Select 1 result" in text(page)
        assert 'name="item"' not in viewer.get(path).content.decode()


def test_all_of_an_endpoint_that_match_are_sent_again(a: Tenant, b: Tenant, admin: Client) -> None:
    endpoint, other = an_endpoint(a), an_endpoint(a, url="http://127.0.0.1:9009/other")
    wanted = [a_failed_delivery(a, endpoint) for _ in range(3)]
    for left in (a_failed_delivery(a, other), a_failed_delivery(b)):
        assert left.endpoint != endpoint
    operation = begin(admin, choice(REDELIVER, query=f"status=error&endpoint={endpoint.uuid}"))
    assert outcome(done(operation)) == ("completed", 3, 3, 0, 0)
    assert {one.endpoint for one in again()} == {endpoint}
    assert [str(one.envelope_id) for one in again()] == [one.envelope_id for one in wanted]
    assert QueuedDelivery.objects.filter(delivery__in=again()).count() == 3
    assert ActivityEntry.objects.filter(action="webhook.redelivered").count() == 3
    assert f"workspace.created → {endpoint.url} Done" in text(admin.get(f"/console/bulk-changes/{operation.uuid}"))


def test_a_delivery_to_a_disabled_webhook_is_refused_in_its_row(a: Tenant, b: Tenant, admin: Client) -> None:
    endpoint = an_endpoint(a)
    delivery = a_failed_delivery(a, endpoint)
    operation = begin(admin, choice(REDELIVER, delivery, a_failed_delivery(b)))
    endpoint.enabled = False
    endpoint.save()
    assert outcome(done(operation)) == ("completed", 1, 0, 0, 1)
    assert "This webhook has been removed or is disabled." in text(admin.get(f"/console/bulk-changes/{operation.uuid}"))
    assert again() == []


def test_a_filter_that_cannot_be_read_chooses_nothing(a: Tenant, admin: Client) -> None:
    a_failed_delivery(a)
    for query in ("status=nothing", "created_after=x", "endpoint=x", "envelope_id=1"):
        assert "Nothing is selected." in text(admin.get(choice(REDELIVER, query=query))), query
