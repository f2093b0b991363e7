"""Faults of what the dispatcher stands on: nothing lost, nothing sent twice without need."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from celery.signals import before_task_publish
from django.db import connection, transaction

from agency.models import Event
from agency.services.events import DISPATCHER
from config import redis as counters
from config.celery import wake_up_channel
from config.leases import claimer
from config.leases.connections import open_connection
from config.leases.runs import LEASE_SECONDS
from tests.rounds import wait_for_a_round
from tests.subscribers import cut_subscribers
from tests.tenants import Tenant, a_new_customer
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import (
    cut_connections,
    ended,
    in_turn,
    make_deliveries,
    make_due,
    record_events,
    status,
    subscribe,
    wait_for_connections,
)
from tests.webhooks.dispatcher.test_isolation import Crowd
from webhooks.dispatcher import fan_out, queries
from webhooks.dispatcher.claimer import DeliveryClaimer
from webhooks.models import Attempt, Delivery, DispatcherRun, Endpoint, QueuedDelivery

OPEN_SINCE = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'dispatcher %%' AND xact_start < %s
"""


@pytest.fixture
def away(settings: Any) -> Iterator[None]:
    """Redis does not answer: nobody listens where it should be."""
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    counters.client.cache_clear()
    counters.circuit_breaker.close()
    yield
    counters.client.cache_clear()
    counters.circuit_breaker.close()


@pytest.fixture
def published() -> Iterator[list[str]]:
    """The names of tasks that somebody tries to publish, which takes six seconds without a broker."""
    names: list[str] = []

    def note(sender: str, **_: Any) -> None:
        names.append(sender)

    before_task_publish.connect(note)
    yield names
    before_task_publish.disconnect(note)


def test_without_redis_events_go_out_by_polling(
    a: Tenant, away: None, published: list[str], start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    for _ in range(3):
        assert a.api.post("/workspaces", a_new_customer()).status_code == 201
    ended(a, 3)
    assert published == []  # nobody waited for the broker
    assert len(receiver.requests) == 3


def listeners() -> int:
    """How many dispatchers hear of wake-ups."""
    [(_, number)] = counters.client().pubsub_numsub(wake_up_channel(DISPATCHER))
    return int(number)


def test_a_lost_wake_up_delays_by_a_sweep_at_most(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    until(listeners, what="the dispatcher to listen")
    wait_for_a_round(DispatcherRun)
    monkeypatch.setattr("agency.services.events.wake_up", lambda name: None)
    record_events(a)
    until(lambda: receiver.requests, what="a sweep")


def test_a_listener_that_redis_has_lost_comes_back(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    until(listeners, what="the dispatcher to listen")
    assert cut_subscribers() >= 1
    record_events(a)
    until(lambda: receiver.requests, what="the delivery")
    until(listeners, what="the dispatcher to listen once more")


def test_a_wake_up_is_followed_at_once(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sweep comes after the first event, which a rest that had begun before may still have ended for."""
    monkeypatch.setattr(claimer, "LEASE_SECONDS", 7_200)  # a sweep would renew it
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    until(listeners, what="the dispatcher to listen")
    wait_for_a_round(DispatcherRun)
    for module in (claimer, fan_out):
        monkeypatch.setattr(module, "SWEEP_SECONDS", 3_600)
    monkeypatch.setattr(claimer, "REST_SECONDS", 3_600)
    for number in (1, 2, 3):
        record_events(a)
        ended(a, number)


@pytest.mark.usefixtures("_patient_attempts")
@pytest.mark.parametrize("which", ["dispatcher%", "dispatcher claimer", "dispatcher recorder"])
def test_a_dispatcher_survives_the_loss_of_its_connections(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, which: str
) -> None:
    crowd = Crowd(quick=11)
    receiver = start_receiver(crowd)
    subscribe(a, receiver)
    dispatcher = start_dispatcher()
    record_events(a, 60)
    until(lambda: crowd.now == 8, what="requests that are answered when the connections are lost")
    [first] = DispatcherRun.objects.all()
    wait_for_connections(which, 1)
    assert cut_connections(which) >= 1
    crowd.let_go.set()
    ended(a, 60)
    assert dispatcher.thread.is_alive()
    assert len(receiver.requests) == 60
    assert Attempt.objects.count() == 60
    assert not QueuedDelivery.objects.exists()
    until(lambda: not DispatcherRun.objects.filter(number=first.number).exists())


def test_without_redis_a_dispatcher_survives_the_loss_of_its_connections(
    a: Tenant, away: None, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    ended(a)
    wait_for_connections("dispatcher%", 3)
    assert cut_connections("dispatcher%") >= 3
    record_events(a)
    ended(a, 2)
    assert len(receiver.requests) == 2


def test_a_record_whose_answer_was_lost_is_made_once(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database wrote down a failed attempt, and the connection broke before the dispatcher heard of it."""
    record = queries.record
    lost: list[int] = []

    def record_and_lose(*args: Any, **values: Any) -> int:
        kept = record(*args, **values)
        if not lost:
            lost.append(kept)
            raise psycopg.OperationalError("gone")
        return kept

    monkeypatch.setattr(queries, "record", record_and_lose)
    receiver = start_receiver(in_turn([status(500)] * 3 + [status(204)] * 3))
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a, 3)
    until(lambda: Delivery.objects.filter(attempts=1).count() == 3)
    until(lambda: not QueuedDelivery.objects.exclude(run=None).exists())
    for delivery in Delivery.objects.all():
        make_due(delivery)
    assert [(delivery.status, delivery.attempts) for delivery in ended(a, 3)] == [("success", 2)] * 3
    assert lost
    assert len(receiver.requests) == 6


def test_a_claim_whose_answer_was_lost_is_made_again(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database committed the claim, and the connection broke before the dispatcher heard of it."""
    claim = queries.claim
    lost: list[Any] = []

    def claim_and_lose(*args: Any, **values: Any) -> Any:
        leased = claim(*args, **values)
        if leased and not lost:
            lost.extend(leased)
            raise psycopg.OperationalError("gone")
        return leased

    monkeypatch.setattr(queries, "claim", claim_and_lose)
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a, 3)
    ended(a, 3)
    assert lost
    assert len(receiver.requests) == 3


@pytest.mark.usefixtures("_patient_attempts")
def test_a_claim_that_the_database_forgot_is_not_made_by_others(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """A crash takes what was committed within the last moments: the dispatcher's leases, too.

    So what was in flight comes twice; what waited until the dispatcher had noticed does not.
    """
    crowd = Crowd(quick=3)
    receiver = start_receiver(crowd)
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a, 60)
    until(lambda: crowd.now == 8, what="eight in flight")
    until(lambda: Attempt.objects.count() == 3, what="the record of those before")
    [first] = DispatcherRun.objects.all()
    with transaction.atomic():
        QueuedDelivery.objects.update(run=None)
        cut_connections("dispatcher%")
    until(lambda: DispatcherRun.objects.exclude(pk=first.pk).exists(), what="the next run")
    start_dispatcher()
    crowd.let_go.set()
    ended(a, 60)
    assert len(receiver.requests) == 60 + 8
    assert Attempt.objects.count() == 60


@pytest.fixture
def _refuses_to_record(transactional_db: None) -> Iterator[None]:
    """A database that takes no attempt with a certain answer, for whatever reason."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE webhooks_attempt ADD CONSTRAINT never CHECK (response_body <> convert_to('never', 'UTF8'))"
        )
        yield
        cursor.execute("ALTER TABLE webhooks_attempt DROP CONSTRAINT never")


@pytest.mark.usefixtures("_refuses_to_record")
def test_an_attempt_that_cannot_be_recorded_ends_its_delivery_and_hinders_no_other(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = start_receiver(in_turn([status(200, b"never" if number == 7 else b"fine") for number in range(30)]))
    subscribe(a, receiver)
    record_events(a, 30)
    start_dispatcher()
    fates = Counter((delivery.status, delivery.error) for delivery in ended(a, 30))
    assert fates == {("success", None): 29, ("error", "failed"): 1}
    assert len(receiver.requests) == 30
    assert "an attempt cannot be recorded" in caplog.text


@pytest.mark.parametrize("gone", ["the event", "the endpoint"])
def test_a_delivery_that_cannot_be_made_stops_nobody_else(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, gone: str
) -> None:
    """Somebody removed at the database what it needs."""
    receiver = start_receiver()
    subscribe(b, receiver)
    subscribe(a, receiver)
    record_events(a)
    with open_connection("test") as opened:
        make_deliveries(opened)
    if gone == "the event":
        Event.objects.filter(agency=a.agency).delete()
    else:
        Endpoint.objects.filter(agency=a.agency).delete()
    start_dispatcher()
    record_events(b, 20)
    assert {delivery.status for delivery in ended(b, 20)} == {"success"}
    record_events(b, 20)
    assert {delivery.status for delivery in ended(b, 40)} == {"success"}


def test_a_dispatcher_that_others_took_for_lost_begins_a_new_run(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver())
    start_dispatcher()
    first = until(lambda: DispatcherRun.objects.first())
    DispatcherRun.objects.all().delete()
    until(lambda: DispatcherRun.objects.exclude(number=first.number).exists())
    record_events(a)
    ended(a)


def test_a_thread_that_crashes_ends_the_run(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashes: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda what: crashes.append(what.exc_type.__name__))
    subscribe(a, start_receiver())
    dispatcher = start_dispatcher()
    until(lambda: DispatcherRun.objects.exists())
    monkeypatch.setattr(queries, "mark_ready", lambda *_, **__: 1 / 0)
    dispatcher.thread.join(60)
    assert not dispatcher.thread.is_alive()
    assert crashes == ["ZeroDivisionError"]


def test_nothing_is_sent_when_the_leases_may_have_run_out(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database has not been heard of for so long that others may hold what is leased."""
    monkeypatch.setattr(DeliveryClaimer, "longest_attempt_seconds", LEASE_SECONDS + 1.0)
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    record_events(a)
    until(lambda: not a.agency.events.filter(fanned_out_at=None).exists(), what="the delivery")
    wait_for_a_round(DispatcherRun)
    assert receiver.connections == []


def test_no_transaction_is_open_while_sending(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """What was open when the request had come ends, though nobody answers it."""
    crowd = Crowd()
    subscribe(a, start_receiver(crowd))
    start_dispatcher()
    record_events(a, 8)
    until(lambda: crowd.now, what="a request")
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [sending_at] = cursor.fetchone()

        def is_free() -> bool:
            cursor.execute(OPEN_SINCE, [sending_at])
            return bool(cursor.fetchone() == (0,))

        until(is_free, what="transactions from before the request to end")
    assert crowd.now


def test_the_dispatcher_waits_for_no_disk_but_its_events_did(transactional_db: None) -> None:
    opened = open_connection("dispatcher test")
    assert opened.execute("SHOW synchronous_commit").fetchone() == ("off",)
    assert opened.execute("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()").fetchone() == (
        "dispatcher test",
    )
    opened.close()


CHANGED = ("status", "attempts", "response_status", "error", "completed_at")
INDEXED = """
SELECT DISTINCT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid
WHERE indrelid = 'webhooks_delivery'::regclass AND (attnum = ANY (indkey)
    OR pg_get_expr(indpred, indrelid) ~ ('\\m' || attname || '\\M'))
"""


def test_no_index_of_deliveries_names_what_a_success_changes(db: None) -> None:
    """So the new version of the row stays on its page, and no index is written."""
    with connection.cursor() as cursor:
        cursor.execute(INDEXED)
        indexed = {row[0] for row in cursor.fetchall()}
    assert {"agency_id", "endpoint_id", "failed_at", "kind"} <= indexed
    assert not indexed & set(CHANGED)


def test_the_log_of_the_dispatcher_names_no_secret_and_no_body(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint = subscribe(a, start_receiver())
    start_dispatcher()
    record_events(a, customer="very private")
    ended(a)
    cut_connections("dispatcher%")
    record_events(a)
    ended(a, 2)
    assert "the database is away" in caplog.text
    assert endpoint["secret"] not in caplog.text
    assert "very private" not in caplog.text
    assert Delivery.objects.filter(status="success").count() == 2
