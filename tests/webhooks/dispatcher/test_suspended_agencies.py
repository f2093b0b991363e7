"""Deliveries of a suspended agency and of its workspaces wait, for 24 hours; restoring it sends what still waits."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Event
from agency.services import restore_agency, suspend_agency
from tests.config.http.receivers import answer
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, measured, record_events, status, subscribe
from tests.webhooks.workspaces import record_for, subscribe_workspace, tenant_of
from webhooks.models import Delivery, DispatcherRun, Endpoint, QueuedDelivery
from webhooks.services.endpoints import update_endpoint
from workspaces.subaccounts.services import move_workspace

pytestmark = [pytest.mark.usefixtures("_contact_events"), pytest.mark.django_db(transaction=True)]


def suspend(a: Tenant) -> None:
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)


def held(count: int = 1) -> list[QueuedDelivery]:
    rows = QueuedDelivery.objects.filter(is_held=True).select_related("delivery").order_by("pk")
    return until(lambda: list(rows) if rows.count() >= count else None, what=f"{count} deliveries that are held")


def test_while_it_is_suspended_nothing_leaves_and_restoring_it_sends_everything_once(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    own, customers, others = (start_receiver() for _ in range(3))
    subscribe_workspace(a.workspace, customers)
    subscribe(a, own)
    subscribe(b, others)
    start_dispatcher()
    until(lambda: not Event.objects.filter(fanned_out_at=None).exists() and not QueuedDelivery.objects.exists())
    before = len(own.requests)
    suspend(a)
    record_events(a, 3)
    record_for([tenant_of(a.workspace)])
    record_events(b)
    rows = held(4)
    ended(b)
    for row in rows:
        assert (row.delivery.status, row.delivery.attempts) == ("pending", 0)
        assert abs(row.due_at - now() - timedelta(hours=24)) < timedelta(minutes=1)
    wait_for_a_round(DispatcherRun)
    assert (len(own.requests), len(customers.requests), len(others.requests)) == (before, 0, 1)
    assert measured("deliveries_due") == measured("deliveries_due_oldest_seconds") == 0

    restore_agency(agency=a.agency, by=SYSTEM)
    assert {one.status for one in ended(a, before + 4)} == {"success"}
    assert (len(own.requests), len(customers.requests)) == (before + 3, 1)
    assert not QueuedDelivery.objects.exists()


def test_what_waits_24_hours_ends_as_an_error_without_an_attempt(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    suspend(a)
    start_dispatcher()
    record_events(a)
    [row] = held()
    a_day_ago = now() - timedelta(hours=24, seconds=1)
    Agency.objects.filter(pk=a.agency.pk).update(suspended_at=a_day_ago)
    Delivery.objects.filter(pk=row.pk).update(created_at=a_day_ago)
    QueuedDelivery.objects.filter(pk=row.pk).update(due_at=now())
    [delivery] = ended(a)
    assert (delivery.status, delivery.error, delivery.attempts) == ("error", "agency_suspended", 0)
    assert receiver.requests == []
    restore_agency(agency=a.agency, by=SYSTEM)
    wait_for_a_round(DispatcherRun)
    assert receiver.requests == []


def test_an_event_of_a_later_hour_has_its_own_24_hours(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    suspend(a)
    Agency.objects.filter(pk=a.agency.pk).update(suspended_at=now() - timedelta(days=3))
    start_dispatcher()
    record_events(a)
    [row] = held()
    assert abs(row.due_at - row.delivery.created_at - timedelta(hours=24)) < timedelta(seconds=1)
    restore_agency(agency=a.agency, by=SYSTEM)
    [delivery] = ended(a)
    assert delivery.status == "success"


def test_an_attempt_that_is_planned_for_later_is_held_when_its_time_comes_and_keeps_its_number(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(answer(status(503)))
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    delivery = attempted(a, 1)
    suspend(a)
    assert QueuedDelivery.objects.filter(delivery=delivery, is_ready=False).update(due_at=now())
    held()
    restore_agency(agency=a.agency, by=SYSTEM)
    attempted(a, 2)
    assert len(receiver.requests) == 2


def test_what_a_restoration_overlooks_is_sent_all_the_same(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """As where a dispatcher puts a delivery off while the agency is being restored."""
    receiver = start_receiver()
    subscribe(a, receiver)
    suspend(a)
    dispatcher = start_dispatcher()
    record_events(a)
    [row] = held()
    dispatcher.stop()
    restore_agency(agency=a.agency, by=SYSTEM)
    QueuedDelivery.objects.filter(pk=row.pk).update(
        is_ready=False, is_held=True, waits_long=True, due_at=now() + timedelta(hours=24)
    )
    start_dispatcher()
    [delivery] = ended(a)
    assert delivery.status == "success"
    assert len(receiver.requests) == 1


def test_a_workspace_that_moves_away_takes_along_what_is_held(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe_workspace(a.workspace, receiver)
    suspend(a)
    start_dispatcher()
    record_for([tenant_of(a.workspace)])
    held()
    move_workspace(workspace=a.workspace, agency=b.agency, now=now(), by=SYSTEM)
    until(lambda: len(receiver.requests) == 1)


def test_switching_the_endpoint_off_ends_what_is_held(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    endpoint = subscribe(a, start_receiver())
    suspend(a)
    start_dispatcher()
    record_events(a)
    held()
    update_endpoint(endpoint=Endpoint.objects.get(uuid=endpoint["uuid"]), enabled=False, by=SYSTEM)
    [delivery] = ended(a)
    assert delivery.error == "endpoint_disabled"
