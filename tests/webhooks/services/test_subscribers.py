"""An event that is recorded only for subscribers costs one look and no row where there are none."""

from typing import Any

import pytest
from django.db import transaction
from django.utils.timezone import now

from agency import tenants
from agency.actors import SYSTEM
from agency.models import Event
from agency.services import record_event
from tests import furnished
from tests.factories import WorkspaceFactory
from tests.tenants import Tenant
from tests.webhooks.workspaces import DATA, EVENT, SCARCE, tenant_of
from webhooks.models import Endpoint
from webhooks.services.endpoints import register_endpoint, remove_endpoint, update_endpoint

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_contact_events")]


@pytest.fixture
def endpoint(a: Tenant) -> Endpoint:
    return register_endpoint(
        tenant=tenant_of(a.workspace), url="http://127.0.0.1:9009/hooks", events=["x", SCARCE], by=SYSTEM
    )


def record(tenant: tenants.Tenant, event: str = SCARCE) -> Event | None:
    with transaction.atomic():
        return record_event(tenant=tenant, name=event, data=DATA, now=now())


def test_a_subscriber_of_the_tenant_makes_a_row(a: Tenant, endpoint: Endpoint) -> None:
    event = record(tenant_of(a.workspace))
    assert event is not None
    assert (event.agency_id, event.workspace_id, event.workspace_uuid) == (
        a.agency.pk,
        a.workspace.pk,
        a.workspace.uuid,
    )


def test_nobody_elses_subscription_makes_a_row(a: Tenant, b: Tenant, endpoint: Endpoint) -> None:
    sibling = WorkspaceFactory.create(agency=a.agency)
    for tenant in (tenant_of(sibling), tenant_of(b.workspace)):
        assert record(tenant) is None
    assert not Event.objects.filter(name=SCARCE).exists()


def test_an_event_of_another_audience_or_of_no_declaration_is_refused(a: Tenant) -> None:
    with pytest.raises(LookupError):
        record(tenants.Tenant(a.agency.pk))
    with pytest.raises(LookupError):
        record(tenant_of(a.workspace), "visitor.deleted")


def test_a_disabled_or_removed_endpoint_is_no_subscriber(a: Tenant, endpoint: Endpoint) -> None:
    update_endpoint(endpoint=endpoint, enabled=False, by=SYSTEM)
    assert record(tenant_of(a.workspace)) is None
    update_endpoint(endpoint=endpoint, enabled=True, by=SYSTEM)
    remove_endpoint(endpoint=endpoint, now=now(), by=SYSTEM)
    assert record(tenant_of(a.workspace)) is None


def test_the_look_is_one_query_and_is_not_made_where_it_decides_nothing(
    a: Tenant, endpoint: Endpoint, django_assert_num_queries: Any
) -> None:
    sibling, workspace = tenant_of(WorkspaceFactory.create(agency=a.agency)), tenant_of(a.workspace)
    with transaction.atomic():
        with django_assert_num_queries(1):
            assert record_event(tenant=sibling, name=SCARCE, data=DATA, now=now()) is None
        with django_assert_num_queries(2):
            record_event(tenant=workspace, name=SCARCE, data=DATA, now=now())
        with django_assert_num_queries(1):
            record_event(tenant=workspace, name=EVENT, data=DATA, now=now())
