"""Masses of one tenant's, in events or in endpoints: they are done batch by batch, and nobody else waits for them."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.models import Max

from agency.models import Event
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import EVENT, ended, record_events, slowly, subscribe
from tests.webhooks.dispatcher.test_isolation import endpoints
from webhooks.dispatcher import fan_out
from webhooks.models import Delivery, DispatcherRun, QueuedDelivery

COPY_EVENT = """
INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body)
SELECT gen_random_uuid(), agency_id, name, occurred_at, body
FROM (SELECT * FROM agency_event WHERE id = %s) one CROSS JOIN generate_series(1, %s)
"""
SLOW_INSERTS = """
CREATE FUNCTION pause_a_little() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END $$;
CREATE TRIGGER pause BEFORE INSERT ON webhooks_delivery FOR EACH ROW EXECUTE FUNCTION pause_a_little();
"""
AS_USUAL = "DROP TRIGGER pause ON webhooks_delivery; DROP FUNCTION pause_a_little()"


def record_copies(tenant: Tenant, count: int) -> None:
    record_events(tenant)
    with connection.cursor() as cursor:
        cursor.execute(COPY_EVENT, [Event.objects.filter(agency=tenant.agency).latest("id").pk, count - 1])


def was_overtaken(tenant: Tenant, *, by: Tenant) -> bool:
    """Whether events of a tenant still waited when the last delivery of another one ended, whenever this is asked."""
    moment = Delivery.objects.filter(agency=by.agency).aggregate(last=Max("completed_at"))["last"]
    return Event.objects.filter(agency=tenant.agency).exclude(fanned_out_at__lte=moment).exists()


def test_an_agency_with_very_many_endpoints_holds_up_nobody(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """Each event makes more deliveries than a batch holds, so one event goes on in several."""
    endpoints(a, start_receiver(slowly(0.01)), 1_200)
    receiver = start_receiver()
    subscribe(b, receiver)
    record_copies(a, 200)
    start_dispatcher()
    until(lambda: Event.objects.filter(agency=a.agency, fanned_out_to__gt=0).exists())
    for _ in range(40):
        record_events(b)
    tested = b.api.post(f"/webhooks/{b.api.get('/webhooks').json()['data'][0]['uuid']}/test", {})
    assert tested.status_code == 202
    ended(b, 41)
    assert len(receiver.requests) == 41
    assert was_overtaken(a, by=b)
    first = Event.objects.filter(agency=a.agency, name=EVENT).earliest("id")
    until(lambda: Event.objects.filter(pk=first.pk).exclude(fanned_out_at=None).exists())
    assert Delivery.objects.filter(event=first).values("endpoint").distinct().count() == 1_200
    assert Delivery.objects.filter(event=first).count() == 1_200


def test_an_agency_with_very_many_events_holds_up_nobody(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver(slowly(0.05)))
    receiver = start_receiver()
    subscribe(b, receiver)
    record_copies(a, 40_000)
    start_dispatcher()
    until(lambda: Delivery.objects.filter(agency=a.agency).exists())
    record_events(b)
    ended(b)
    assert was_overtaken(a, by=b)


@pytest.fixture
def _slow_inserts(transactional_db: None) -> Iterator[None]:
    """A database that takes a millisecond for each new delivery."""
    with connection.cursor() as cursor:
        cursor.execute(SLOW_INSERTS)
        yield
        cursor.execute(AS_USUAL)


@pytest.mark.usefixtures("_slow_inserts")
def test_a_batch_that_takes_too_long_is_made_smaller_and_ends_nothing(
    a: Tenant,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(fan_out, "STATEMENT_TIMEOUT", "200ms")
    subscribe(a, start_receiver())
    start_dispatcher()
    [run] = until(lambda: list(DispatcherRun.objects.all()))
    record_copies(a, 500)
    assert {delivery.status for delivery in ended(a, 500)} == {"success"}
    assert "a batch of new deliveries took too long" in caplog.text
    assert "the database is away" not in caplog.text
    assert DispatcherRun.objects.get().pk == run.pk
    assert not QueuedDelivery.objects.exists()
