"""Events and deliveries that others write late, or far ahead, are found; and each only once."""

from uuid import uuid4

import pytest
from django.db import transaction

from agency.models import Event
from config.leases import backlog
from config.leases.connections import open_connection
from tests.tenants import Tenant
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import EVENT, ended, make_deliveries, record_events, subscribe
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher, record_wanted_events
from webhooks.models import Delivery, QueuedDelivery

RECORD_EVENT = "INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body) VALUES (%s, %s, %s, %s, %s)"


def test_events_are_found_however_late_they_commit(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """One whose transaction began first and ends last, after others have been delivered."""
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    ended(a)
    event = Event.objects.filter(name=EVENT).latest("id")
    values = [uuid4(), event.agency_id, event.name, event.occurred_at, bytes(event.body)]
    with open_connection("a slow writer") as slow, slow.transaction():
        slow.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # however slow the others are
        slow.execute(RECORD_EVENT, values)
        for count in range(2, 5):
            record_events(a)
            ended(a, count)
    ended(a, 5)
    assert len(receiver.requests) == 5


def test_what_was_overlooked_is_found_when_everything_is_read_anew(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event and a delivery whose places lie before what has been read."""
    monkeypatch.setattr(backlog, "RESCAN_SECONDS", 1.0)
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    ended(a)
    with transaction.atomic():
        record_events(a)
        Event.objects.filter(fanned_out_at=None).update(position=1)
    ended(a, 2)
    again = a.api.post(f"/webhooks/deliveries/{Delivery.objects.earliest('id').uuid}/redeliver")
    assert again.status_code == 202
    QueuedDelivery.objects.update(position=1)
    ended(a, 3)


def test_what_a_restored_dump_brings_from_a_cluster_that_was_further_on_is_delivered(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """Its transactions have numbers that lie far ahead of those to come."""
    receiver = start_receiver()
    subscribe(a, receiver)
    record_events(a, 3)
    Event.objects.update(position=10**12)
    with open_connection("test") as opened:
        make_deliveries(opened)
    QueuedDelivery.objects.update(position=10**12)
    record_events(a, 3)
    Event.objects.filter(fanned_out_at=None).update(position=10**12)
    start_dispatcher()
    ended(a, 6)
    record_events(a, 3)
    ended(a, 9)
    assert len(receiver.requests) == 9


def test_an_event_fanned_out_twice_makes_one_delivery(
    a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver)
    other.make_deliveries()
    Event.objects.update(fanned_out_at=None)
    other.make_deliveries()
    assert not Event.objects.filter(fanned_out_at=None).exists()
    assert Delivery.objects.count() == QueuedDelivery.objects.count() == 1
