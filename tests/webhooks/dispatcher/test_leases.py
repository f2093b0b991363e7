"""Dispatchers that work side by side, die, hang, and come back late: one effect, nothing lost."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from agency.models import Event
from config.http.error_codes import BLOCKED_ADDRESS
from config.leases import backlog
from config.leases.claimer import Demand
from config.leases.connection import Connection, open_connection
from config.leases.runs import GRACE_SECONDS, LEASE_SECONDS
from config.leases.shards import SHARDS, shard_of
from tests.config.http.receivers import answer
from tests.tenants import Tenant
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import EVENT, ended, make_deliveries, record_events, slowly, status, subscribe, until
from webhooks.dispatcher import queries
from webhooks.dispatcher.claimer import DeliveryClaimer
from webhooks.dispatcher.fan_out import FanOut
from webhooks.dispatcher.outcomes import columns, not_sent
from webhooks.dispatcher.queries import NO_CAPACITY, Capacity, LeasedDelivery
from webhooks.models import Attempt, Delivery, DispatcherRun, Endpoint, EndpointShard, QueuedDelivery


class Other:
    """Another dispatcher, at the database alone: it leases, and sends nothing."""

    def __init__(self) -> None:
        self.number = random.randrange(1, 2**31)
        self.connection: Connection = open_connection("another dispatcher")
        queries.RUNS.begin(self.connection, run=self.number)
        queries.RUNS.hold_presence(self.connection, run=self.number)
        self.leased: list[LeasedDelivery] = []
        self.claimer = DeliveryClaimer(
            self.number, Demand(nothing=NO_CAPACITY, wake=lambda: None), self._receive, lambda: None
        )
        self.claimer.shards.create(self.connection)
        self.fan_out = FanOut(self.number, self.claimer.shards, lambda: None)

    def _receive(self, leased: list[LeasedDelivery], _: object) -> None:
        self.leased = leased

    def take(self, *, room: int = 1_000, suspects: int = 0) -> list[LeasedDelivery]:
        """Lease what is there; `suspects` is how many it has leased."""
        self.leased = []
        self.claimer.sweep(self.connection)
        self.make_deliveries()
        self.claimer.claim(self.connection, Capacity(1_000, room, {}, (), (), (), (), suspects))
        return self.leased

    def make_deliveries(self) -> None:
        """Make the deliveries of all events."""
        self.claimer.shards.balance(self.connection)
        self.fan_out.tenants.rescan(self.connection)
        while self.fan_out.fan_out(self.connection):
            pass

    def record(self, row: LeasedDelivery, error: str = "refused") -> int:
        return queries.record(
            self.connection, run=self.number, columns=columns([not_sent(row, "http://receiver/", error)])
        )

    def succeed(self, row: LeasedDelivery) -> int:
        """Record an attempt that was answered with a 2xx."""
        failed = not_sent(row, "http://receiver/", "")
        return queries.record(
            self.connection,
            run=self.number,
            columns=columns([failed._replace(result=failed.result._replace(error=None, status=204))]),
        )

    def deliver(self, id: int) -> bool:
        """Record a success that took no time."""
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM webhooks_queueddelivery WHERE delivery_id = %s AND run = %s", [id, self.number])
            found: int = cursor.rowcount
        Delivery.objects.filter(pk=id).update(status="success", completed_at=now())
        return found == 1

    def die(self) -> None:
        """Vanish, as long ago as the others wait for: the database has noticed, too."""
        session = self.connection.info.backend_pid
        self.connection.close()
        until(lambda: not is_open(session))
        self.fall_silent(seconds=GRACE_SECONDS + 1)

    def fall_silent(self, *, seconds: float) -> None:
        then = now() - timedelta(seconds=seconds)
        DispatcherRun.objects.filter(number=self.number).update(started_at=then, seen_at=then)


def is_open(session: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [session])
        return cursor.fetchone() is not None


@pytest.fixture
def other(transactional_db: None) -> Iterator[Other]:
    dispatcher = Other()
    yield dispatcher
    dispatcher.connection.close()


RECORD_EVENT = "INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body) VALUES (%s, %s, %s, %s, %s)"


def ready(tenant: Tenant, start_receiver: StartReceiver, count: int = 1) -> None:
    """So many events of an agency that one endpoint wants."""
    subscribe(tenant, start_receiver())
    record_events(tenant, count)


def test_two_dispatchers_deliver_everything_once(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    for tenant in (a, b):
        subscribe(tenant, receiver)
    start_dispatcher(), start_dispatcher()
    for _ in range(10):
        record_events(a, 10)
        record_events(b, 10)
    ended(a, 100)
    ended(b, 100)
    times = Counter(request.headers["x-svc-delivery"] for request in receiver.requests)
    assert len(times) == 200
    assert set(times.values()) == {1}
    assert Attempt.objects.count() == 200


def test_what_a_dead_dispatcher_had_leased_is_delivered(
    a: Tenant, other: Other, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver, 20)
    assert len(other.take()) == 20
    other.die()
    start_dispatcher()
    assert {delivery.status for delivery in ended(a, 20)} == {"success"}
    assert {delivery.attempts for delivery in Delivery.objects.all()} == {1}
    assert not DispatcherRun.objects.filter(number=other.number).exists()


def test_a_living_dispatchers_endpoints_are_left_to_it(
    a: Tenant, b: Tenant, other: Other, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    """Those in its share; it lets go of the rest when another comes and nothing is leased there."""
    ready(a, start_receiver, 3)
    ready(b, start_receiver)
    [mine] = Endpoint.objects.filter(agency=a.agency)
    [theirs] = Endpoint.objects.filter(agency=b.agency)
    assert shard_of(mine.pk) != shard_of(theirs.pk)
    other.make_deliveries()
    free = [number for number in range(SHARDS) if number != shard_of(mine.pk)]
    free.sort(key=lambda number: number != shard_of(theirs.pk))
    EndpointShard.objects.filter(number__in=free[: SHARDS // 2]).update(run=None)
    start_dispatcher()
    ended(b)
    time.sleep(0.7)
    assert not Attempt.objects.filter(delivery__agency=a.agency).exists()
    assert not Delivery.objects.filter(agency=a.agency).exclude(queued__run=None).exists()


def test_a_dispatcher_that_hangs_loses_its_leases_after_twenty_seconds(
    a: Tenant, other: Other, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver)
    [row] = other.take()
    other.fall_silent(seconds=LEASE_SECONDS - 3)
    start_dispatcher()
    time.sleep(0.8)
    assert QueuedDelivery.objects.get().run == other.number
    other.fall_silent(seconds=LEASE_SECONDS + 1)
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts) == ("success", 1)
    assert other.record(row) == 0
    assert not queries.RUNS.be_seen(other.connection, run=other.number)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts, delivery.error) == ("success", 1, None)
    assert Attempt.objects.get().error is None


def test_a_late_record_does_not_overwrite_a_newer_attempt(
    a: Tenant, other: Other, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver)
    [row] = other.take()
    newer = Other()
    other.die()
    queries.RUNS.end_lost(newer.connection, run=newer.number)
    [again] = newer.take()
    late = open_connection("the first dispatcher, back again")
    assert queries.record(late, run=other.number, columns=columns([not_sent(row, "http://late/", "timeout")])) == 0
    assert newer.record(again) == 1
    assert queries.record(late, run=other.number, columns=columns([not_sent(row, "http://late/", "timeout")])) == 0
    late.close()
    newer.connection.close()
    assert Attempt.objects.get().url == "http://receiver/"
    assert Delivery.objects.get().error == "refused"


def test_a_dispatcher_that_others_took_for_lost_leases_nothing_more(
    a: Tenant, other: Other, start_receiver: StartReceiver
) -> None:
    """It does not know yet; a lease under a number that nobody ends would hold for ever."""
    ready(a, start_receiver)
    newer = Other()
    other.fall_silent(seconds=LEASE_SECONDS + 1)
    assert queries.RUNS.end_lost(newer.connection, run=newer.number) == 1
    assert other.take() == []
    assert len(newer.take()) == 1
    newer.connection.close()


def test_what_is_given_back_costs_neither_an_attempt_nor_a_lease(
    a: Tenant, other: Other, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver)
    for _ in range(15):
        [row] = other.take()
        queries.give_back(other.connection, run=other.number, ids=[row.id])
    queued = QueuedDelivery.objects.get()
    assert (queued.lost_leases, queued.run, queued.is_suspect) == (0, None, False)


def die_with_everything_leased(dispatchers: int) -> list[int]:
    """Let dispatchers take what is there and die, one after the other; gives how many deliveries each took."""
    taken = []
    for _ in range(dispatchers):
        one = Other()
        queries.RUNS.end_lost(one.connection, run=one.number)
        taken.append(len(one.take()))
        one.die()
    return taken


def test_a_delivery_that_kills_its_dispatchers_is_given_up_after_ten_and_costs_no_other(
    a: Tenant, b: Tenant, other: Other, start_receiver: StartReceiver
) -> None:
    """Whoever takes the poison dies before anything that it leased is sent; whoever does not delivers what it has."""
    for tenant in (a, b):
        ready(tenant, start_receiver, 150)
    other.make_deliveries()
    queries.RUNS.end(other.connection, run=other.number)
    deaths, rounds, poison = 0, 0, 0
    while QueuedDelivery.objects.exists():
        one = Other()
        queries.RUNS.end_lost(one.connection, run=one.number)
        taken = {row.id for row in one.take()}
        poison = poison or min(taken)
        rounds += 1
        if poison in taken:
            one.die()
            deaths += 1
        elif taken:
            for row in list(QueuedDelivery.objects.filter(delivery_id__in=taken)):
                assert one.deliver(row.delivery_id)
            queries.RUNS.end(one.connection, run=one.number)
            one.connection.close()
        else:
            one.die()
    given_up = Delivery.objects.get(pk=poison)
    assert (given_up.status, given_up.error, given_up.attempts) == ("error", "worker_lost", 0)
    assert deaths == 10
    assert rounds < 60
    assert Delivery.objects.filter(status="success").count() == 299


def test_suspects_are_taken_in_groups_that_shrink_with_every_dispatcher_that_died(
    a: Tenant, transactional_db: None, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver, 300)
    assert die_with_everything_leased(8) == [300, 300, 256, 44, 64, 64, 64, 64]
    other = Other()
    queries.RUNS.end_lost(other.connection, run=other.number)
    assert len(other.take(suspects=40)) == 64 - 40
    other.connection.close()


def test_a_suspect_that_does_no_harm_is_delivered(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver, 30)
    assert die_with_everything_leased(2) == [30, 30]
    start_dispatcher()
    assert {delivery.status for delivery in ended(a, 30)} == {"success"}
    assert not QueuedDelivery.objects.exists()


def test_a_suspects_retry_is_an_ordinary_one(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    subscribe(a, start_receiver(answer(status(500))))
    record_events(a)
    die_with_everything_leased(2)
    start_dispatcher()
    queued = until(lambda: QueuedDelivery.objects.filter(delivery__attempts=1).first())
    assert (queued.lost_leases, queued.is_suspect, queued.is_ready, queued.run) == (0, False, False, None)


def test_a_run_ends_without_a_trace_and_gives_back_what_it_holds(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(slowly(0.2))
    subscribe(a, receiver)
    record_events(a, 60)
    dispatcher = start_dispatcher()
    until(lambda: receiver.requests)
    dispatcher.stop()
    assert not DispatcherRun.objects.exists()
    assert not QueuedDelivery.objects.filter(run__isnull=False).exists()
    done = Delivery.objects.filter(status="success").count()
    assert done == Attempt.objects.count() == len(receiver.requests)
    assert QueuedDelivery.objects.filter(lost_leases=0).count() == 60 - done
    start_dispatcher()
    ended(a, 60)
    assert len(receiver.requests) == 60


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


def test_an_older_delivery_that_ends_later_says_nothing_of_its_endpoint_now(
    a: Tenant, other: Other, start_receiver: StartReceiver
) -> None:
    ready(a, start_receiver, 3)
    older, newer, newest = sorted(other.take(), key=lambda row: row.id)
    assert other.record(newer, BLOCKED_ADDRESS) == 1
    assert Endpoint.objects.get().last_outcome == "error"
    assert other.succeed(newest) == 1
    assert Endpoint.objects.get().last_outcome == "success"
    assert other.record(older, BLOCKED_ADDRESS) == 1
    endpoint = Endpoint.objects.get()
    assert (endpoint.last_outcome, endpoint.last_delivery) == ("success", newest.id)
    assert set(Delivery.objects.values_list("status", flat=True)) == {"success", "error"}


def test_an_event_fanned_out_twice_makes_one_delivery(a: Tenant, other: Other, start_receiver: StartReceiver) -> None:
    ready(a, start_receiver)
    other.make_deliveries()
    Event.objects.update(fanned_out_at=None)
    other.make_deliveries()
    assert not Event.objects.filter(fanned_out_at=None).exists()
    assert Delivery.objects.count() == QueuedDelivery.objects.count() == 1
