"""Endpoints with extended retries: nine attempts over more than a day; a planned wait is not taken for a lost one."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from tests.agency.console.browsers import at_the_console, text
from tests.config.http.receivers import answer
from tests.rounds import wait_for_a_round
from tests.tenants import Api, Tenant
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, make_due, measured, record_events, status, subscribe
from webhooks.models import Delivery, DispatcherRun, Endpoint, QueuedDelivery
from webhooks.services.partitions import drop_old_partitions

pytestmark = pytest.mark.django_db
MINUTE, HOUR = 60, 3_600
WAITS = [10, 60, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]


def assert_waits(delivery: Delivery, seconds: float) -> None:
    """The next attempt comes so long from now, or up to a fifth later; half a minute may have passed since."""
    assert delivery.next_attempt_at is not None
    left = (delivery.next_attempt_at - now()).total_seconds()
    assert max(seconds - 30, 0) <= left <= seconds * 1.2


@pytest.mark.django_db(transaction=True)
def test_nine_failures_over_a_day_and_more_end_the_delivery(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """A planned wait of hours is kept, and nobody is alarmed."""
    receiver = start_receiver(answer(status(503)))
    subscribe(a, receiver, retries="extended")
    start_dispatcher()
    record_events(a)
    for number, seconds in enumerate(WAITS, 1):
        delivery = attempted(a, number)
        assert_waits(delivery, seconds)
        if number == 7:
            for _ in range(2):
                wait_for_a_round(DispatcherRun)
            assert len(receiver.requests) == 7
            assert measured("deliveries_due") == measured("deliveries_due_oldest_seconds") == 0
        make_due(delivery)
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts, delivery.error) == ("error", 9, "http_5xx")
    assert len(receiver.requests) == 9


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("retries", "failures"), [("standard", 2), ("extended", 7)])
def test_what_was_put_off_before_the_clock_was_put_back_is_not_put_off_for_good(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, retries: str, failures: int
) -> None:
    receiver = start_receiver(answer(status(503)))
    subscribe(a, receiver, retries=retries)
    start_dispatcher()
    record_events(a)
    delivery = attempted(a, 1)
    Delivery.objects.filter(pk=delivery.pk).update(attempts=failures - 1)
    make_due(delivery)
    attempted(a, failures)
    ahead = timedelta(days=2) if retries == "extended" else timedelta(hours=1)
    assert QueuedDelivery.objects.filter(delivery=delivery, is_ready=False).update(due_at=now() + ahead)
    attempted(a, failures + 1)


@pytest.mark.django_db(transaction=True)
def test_what_waits_for_hours_keeps_its_day_is_told_and_ends_when_the_endpoint_is_switched_off(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    endpoint = subscribe(a, start_receiver(answer(status(503))), retries="extended")
    dispatcher = start_dispatcher()
    record_events(a)
    delivery = attempted(a, 1)
    assert drop_old_partitions() == 0
    assert Delivery.objects.filter(pk=delivery.pk).exists()
    dispatcher.stop()
    QueuedDelivery.objects.filter(delivery=delivery).update(due_at=now() + timedelta(hours=5, minutes=1))
    page = text(at_the_console(a.agency).get("/console/webhooks"))
    assert "Next attempt in 5 hours" in page
    a.api.patch(f"/webhooks/{endpoint['uuid']}", {"enabled": False})
    [delivery] = ended(a)
    assert (delivery.error, delivery.attempts) == ("endpoint_disabled", 1)


@pytest.mark.django_db(transaction=True)
def test_sent_again_it_is_tried_as_its_endpoint_is_now(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(answer(status(204)))
    endpoint = subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    [first] = ended(a)
    a.api.patch(f"/webhooks/{endpoint['uuid']}", {"retries": "extended"})
    a.api.post(f"/webhooks/deliveries/{first.uuid}/redeliver")
    replayed = {"since": (now() - timedelta(hours=1)).isoformat(), "status": "all"}
    ended(a, 2)
    assert a.api.post(f"/webhooks/{endpoint['uuid']}/replay", replayed).json()["data"]["count"] == 1
    a.api.post(f"/webhooks/{endpoint['uuid']}/test")
    most = [one.max_attempts for one in ended(a, 4)]
    assert most == [3, 9, 9, 1]


@pytest.mark.parametrize("surface", ["agency", "workspace"])
def test_retries_are_standard_unless_chosen_on_both_surfaces(a: Tenant, surface: str) -> None:
    api: Api = a.api if surface == "agency" else a.workspace_api
    body: dict[str, Any] = {"url": "https://93.184.215.14/hooks"}
    body |= {"events": ["workspace.created"]} if surface == "agency" else {"topics": ["product.updated"]}
    identity = "uuid" if surface == "agency" else "id"

    usual = api.post("/webhooks", body).json()["data"]
    assert usual["retries"] == "standard"
    assert api.post("/webhooks", {**body, "retries": None}).json()["data"]["retries"] == "standard"
    chosen = api.post("/webhooks", {**body, "retries": "extended"}).json()["data"]
    assert chosen["retries"] == "extended"
    path = f"/webhooks/{chosen[identity]}"
    assert api.get(path).json()["data"]["retries"] == "extended"
    assert api.patch(path, {"description": "CRM"}).json()["data"]["retries"] == "extended"
    assert api.patch(path, {"retries": "standard"}).json()["data"]["retries"] == "standard"
    for wrong in ("often", "", 9, ["extended"]):
        for refused in (api.post("/webhooks", {**body, "retries": wrong}), api.patch(path, {"retries": wrong})):
            assert (refused.status_code, list(refused.json()["errors"])) == (422, ["retries"])
    assert api.get(path).json()["data"]["retries"] == "standard"


def test_they_are_chosen_in_the_console_and_shown(a: Tenant) -> None:
    browser = at_the_console(a.agency)
    form = browser.get(f"/console/webhooks/{a.endpoint.uuid}/edit")
    assert "Extended: nine attempts over about 28 hours" in text(form)
    fields = {"url": a.endpoint.url, "events": ["workspace.created"], "enabled": "on", "retries": "extended"}
    assert browser.post(f"/console/webhooks/{a.endpoint.uuid}/edit", fields).status_code == 302
    assert Endpoint.objects.get(pk=a.endpoint.pk).retries == "extended"
    assert "Extended" in text(browser.get(f"/console/webhooks/{a.endpoint.uuid}"))
    assert "Retries" in text(browser.get("/console/activity"))


def test_the_database_knows_two_kinds_of_retries(a: Tenant) -> None:
    with connection.cursor() as cursor, pytest.raises(Exception, match="endpoint_retries"):
        cursor.execute("UPDATE webhooks_endpoint SET retries = 'often' WHERE id = %s", [a.endpoint.pk])
