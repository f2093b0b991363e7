"""Support sees what state webhooks are in, as their owners do."""

from typing import Any
from uuid import uuid4

from django.test import Client
from django.utils.timezone import now

from tests.agency.console.browsers import text
from tests.factories import EndpointFactory
from tests.factories.webhooks import a_failed_delivery
from tests.tenants import Tenant
from webhooks.models import Delivery, Endpoint


def test_states_stand_in_the_list_and_on_the_page_of_one_at_the_same_cost_for_many(
    a: Tenant, support: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        lost = a_failed_delivery(a, a.endpoint)
        Delivery.objects.filter(pk=lost.pk).update(envelope_id=uuid4())
    Endpoint.objects.filter(pk=a.endpoint.pk).update(last_outcome="success", last_delivery_at=now())
    for _ in range(9):
        EndpointFactory.create(agency=a.agency)
    with django_assert_max_num_queries(8):
        listed = text(support.get("/admin/webhooks/endpoint/"))
    assert "Recovered (3 not delivered)" in listed
    assert "Recovered (3 not delivered)" in text(support.get(f"/admin/webhooks/endpoint/{a.endpoint.pk}/change/"))
    assert "Recovered (3 not delivered)" in text(support.get(f"/admin/agency/agency/{a.agency.pk}/overview/"))
