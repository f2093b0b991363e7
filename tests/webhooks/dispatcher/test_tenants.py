"""An agency and its workspaces hear of their own events only, and many busy workspaces hold nobody up."""

from typing import Any

import pytest

from agency import tenants
from agency.models import Event
from tests.config.http.receivers import LONG_SECONDS
from tests.factories import WorkspaceFactory, many_workspaces
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import record_events, subscribe
from tests.webhooks.dispatcher.test_isolation import Crowd
from tests.webhooks.workspaces import EVENT, record_for, subscribe_workspace, tenant_of
from webhooks.dispatcher import loop, queues
from webhooks.models import Delivery, DispatcherRun, Endpoint, QueuedDelivery
from webhooks.services.endpoints import new_secret
from webhooks.services.log import LogFilters, read_log

OWN_EVENT = "addon.granted"  # making a workspace records none of these

pytestmark = pytest.mark.usefixtures("_contact_events")


def test_events_reach_the_endpoints_of_their_tenant_and_no_others(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receivers = {name: start_receiver() for name in ("agency", "one", "other", "foreign")}
    one, other = a.workspace, WorkspaceFactory.create(agency=a.agency)
    subscribe(a, receivers["agency"], OWN_EVENT)
    Endpoint.objects.update(events=[OWN_EVENT, EVENT])
    for name, workspace in (("one", one), ("other", other), ("foreign", b.workspace)):
        subscribe_workspace(workspace, receivers[name], OWN_EVENT, EVENT)
    start_dispatcher()
    record_events(a, event=OWN_EVENT)
    record_for([tenant_of(one)] * 2)
    until(lambda: not Event.objects.filter(fanned_out_at=None).exists() and not QueuedDelivery.objects.exists())
    assert {name: len(receiver.requests) for name, receiver in receivers.items()} == {
        "agency": 1,
        "one": 2,
        "other": 0,
        "foreign": 0,
    }


def test_an_agency_and_its_workspaces_see_their_own_endpoints_and_deliveries(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver, OWN_EVENT)
    subscribe_workspace(a.workspace, receiver)
    start_dispatcher()
    record_events(a, event=OWN_EVENT)
    record_for([tenant_of(a.workspace)])
    until(lambda: Delivery.objects.filter(status="success").count() == 2)
    for tenant, event in ((tenants.Tenant(a.agency.pk), OWN_EVENT), (tenant_of(a.workspace), EVENT)):
        assert [one.events for one in Endpoint.objects.of_tenant(tenant)] == [[event]]
        assert [one.event_name for one in Delivery.objects.of_tenant(tenant)] == [event]
        choices: tuple[dict[str, Any], ...] = (
            {},
            {"status": "success"},
            {"event": event},
            {"event": event, "status": "success"},
        )
        for filters in choices:
            found = read_log(LogFilters(tenant=tenant, **filters), offset=0, size=30)
            assert ([one.event_name for one in found.rows], found.total) == ([event], 1)
        assert not read_log(LogFilters(tenant=tenant, status="error"), offset=0, size=30).total
    assert [one["event"] for one in a.api.get("/webhooks/deliveries").json()["data"]] == [OWN_EVENT]
    assert len(a.api.get("/webhooks").json()["data"]) == 1
    foreign = Delivery.objects.of_tenant(tenant_of(a.workspace)).get()
    assert a.api.get(f"/webhooks/deliveries/{foreign.uuid}").status_code == 404
    assert a.api.get(f"/webhooks/{foreign.endpoint.uuid}").status_code == 404


def busy_workspaces(tenant: Tenant, port: int, count: int) -> list[tenants.Tenant]:
    """Many workspaces of an agency, each with an endpoint at one receiver."""
    many_workspaces(tenant.agency, count)
    workspaces = [tenant_of(one) for one in tenant.agency.workspaces.all()]
    Endpoint.objects.bulk_create(
        Endpoint(
            agency_id=one.agency_id,
            workspace_id=one.workspace_id,
            workspace_uuid=one.workspace_uuid,
            url=f"http://127.0.0.1:{port}/{one.workspace_id}",
            events=[EVENT],
            secret=new_secret(),
        )
        for one in workspaces
    )
    return workspaces


@pytest.mark.usefixtures("_patient_attempts")
def test_hundreds_of_busy_workspaces_of_one_agency_leave_another_agency_its_room(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    slow, healthy = start_receiver(Crowd()), start_receiver()
    workspaces = busy_workspaces(a, slow.port, 250)
    subscribe(b, healthy)
    record_for(workspaces * 2)
    start_dispatcher()
    until(lambda: len(slow.requests) >= 48, what="the workspaces' share")
    record_events(b, 40)
    until(lambda: len(healthy.requests) == 40, what="the other agency's, while none of theirs is answered")
    assert len(slow.connections) <= 160 + 48


@pytest.mark.usefixtures("_patient_attempts")
def test_what_an_agencys_workspaces_have_in_flight_together_is_bounded(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as none of it is known to be slow."""
    for module in (loop, queues):
        monkeypatch.setattr(module, "SLOW_SECONDS", float(LONG_SECONDS))
    crowd = Crowd()
    workspaces = busy_workspaces(a, start_receiver(crowd).port, 60)
    Endpoint.objects.update(last_outcome="success")
    record_for(workspaces * 2)
    start_dispatcher()
    until(lambda: crowd.now >= 96, what="all that the agency may have in flight")
    wait_for_a_round(DispatcherRun)
    crowd.let_go.set()
    until(lambda: Delivery.objects.filter(status="success").count() == 120, what="all deliveries")
    assert crowd.most == 96
