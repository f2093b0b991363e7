"""Dispatchers that work side by side, die, hang, and come back late: one effect, nothing lost."""

from collections import Counter
from contextlib import closing

import pytest

from config.http.error_codes import BLOCKED_ADDRESS
from config.leases import runs as leased_runs
from config.leases.connections import open_connection
from config.leases.runs import LEASE_SECONDS, SHARDS, shard_of
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import ended, record_events, slowly, subscribe
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher, record_wanted_events
from webhooks.dispatcher import queries
from webhooks.dispatcher.recorder import columns, not_sent
from webhooks.models import Attempt, Delivery, DispatcherRun, Endpoint, EndpointShard, QueuedDelivery


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


def test_what_has_just_become_slow_is_kept_when_another_dispatcher_comes(other: OtherDispatcher) -> None:
    """It was not slow yet at the last claim. In a shard that is given away, nobody would deliver until it ends."""
    other.take()
    assert len(other.claimer.shards.held) == SHARDS
    assert other.capacity
    slow = range(20)
    other.capacity = other.capacity._replace(slow=slow)
    with closing(OtherDispatcher().connection):
        other.claimer.sweep(other.connection)
    assert len(other.claimer.shards.held) == SHARDS // 2
    assert other.claimer.shards.held >= set(map(shard_of, slow))


def test_no_shard_is_taken_or_given_away_while_the_loop_does_not_answer(other: OtherDispatcher) -> None:
    known, other.capacity = other.capacity, None
    other.claimer.sweep(other.connection)
    assert other.claimer.shards.held == set()
    other.capacity = known
    other.claimer.sweep(other.connection)
    assert len(other.claimer.shards.held) == SHARDS
    other.capacity = None
    with closing(OtherDispatcher().connection):
        other.claimer.sweep(other.connection)
    assert len(other.claimer.shards.held) == SHARDS


def test_what_a_dead_dispatcher_had_leased_is_delivered(
    a: Tenant, other: OtherDispatcher, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver, 20)
    assert len(other.take()) == 20
    other.die()
    start_dispatcher()
    assert {delivery.status for delivery in ended(a, 20)} == {"success"}
    assert {delivery.attempts for delivery in Delivery.objects.all()} == {1}
    assert not DispatcherRun.objects.filter(number=other.number).exists()


def test_a_living_dispatchers_endpoints_are_left_to_it(
    a: Tenant,
    b: Tenant,
    other: OtherDispatcher,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those in its share; it lets go of the rest when another comes and nothing is leased there."""
    monkeypatch.setattr(leased_runs, "LEASE_SECONDS", 600)  # nobody renews them here
    record_wanted_events(a, start_receiver, 3)
    record_wanted_events(b, start_receiver)
    [mine] = Endpoint.objects.filter(agency=a.agency)
    [theirs] = Endpoint.objects.filter(agency=b.agency)
    assert shard_of(mine.pk) != shard_of(theirs.pk)
    other.make_deliveries()
    free = [number for number in range(SHARDS) if number != shard_of(mine.pk)]
    free.sort(key=lambda number: number != shard_of(theirs.pk))
    EndpointShard.objects.filter(number__in=free[: SHARDS // 2]).update(run=None)
    start_dispatcher()
    ended(b)
    wait_for_a_round(DispatcherRun, but=[other.number])
    assert not Attempt.objects.filter(delivery__agency=a.agency).exists()
    assert not Delivery.objects.filter(agency=a.agency).exclude(queued__run=None).exists()


def test_a_dispatcher_that_hangs_loses_its_leases_after_twenty_seconds(
    a: Tenant,
    other: OtherDispatcher,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten minutes here: whatever this machine does meanwhile comes to less."""
    assert LEASE_SECONDS == 20
    monkeypatch.setattr(leased_runs, "LEASE_SECONDS", 600)
    record_wanted_events(a, start_receiver)
    [row] = other.take()
    other.fall_silent(seconds=599 - PATIENCE_SECONDS * 2)
    start_dispatcher()
    until(lambda: DispatcherRun.objects.exclude(number=other.number).exists(), what="the other dispatcher")
    wait_for_a_round(DispatcherRun, but=[other.number])
    assert QueuedDelivery.objects.get().run == other.number
    other.fall_silent(seconds=601)
    [delivery] = ended(a)
    assert (delivery.status, delivery.attempts) == ("success", 1)
    assert other.record(row) == 0
    assert not queries.RUNS.be_seen(other.connection, run=other.number)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts, delivery.error) == ("success", 1, None)
    assert Attempt.objects.get().error is None


def test_a_late_record_does_not_overwrite_a_newer_attempt(
    a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver)
    [row] = other.take()
    newer = OtherDispatcher()
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
    a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver
) -> None:
    """It does not know yet; a lease under a number that nobody ends would hold for ever."""
    record_wanted_events(a, start_receiver)
    newer = OtherDispatcher()
    other.fall_silent(seconds=LEASE_SECONDS + 1)
    assert queries.RUNS.end_lost(newer.connection, run=newer.number) == 1
    assert other.take() == []
    assert len(newer.take()) == 1
    newer.connection.close()


def test_what_is_given_back_costs_neither_an_attempt_nor_a_lease(
    a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver)
    for _ in range(15):
        [row] = other.take()
        queries.give_back(other.connection, run=other.number, ids=[row.id])
    queued = QueuedDelivery.objects.get()
    assert (queued.lost_leases, queued.run, queued.is_suspect) == (0, None, False)


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


def test_an_older_delivery_that_ends_later_says_nothing_of_its_endpoint_now(
    a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver
) -> None:
    record_wanted_events(a, start_receiver, 3)
    older, newer, newest = sorted(other.take(), key=lambda row: row.id)
    assert other.record(newer, BLOCKED_ADDRESS) == 1
    assert Endpoint.objects.get().last_outcome == "error"
    assert other.succeed(newest) == 1
    assert Endpoint.objects.get().last_outcome == "success"
    assert other.record(older, BLOCKED_ADDRESS) == 1
    endpoint = Endpoint.objects.get()
    assert (endpoint.last_outcome, endpoint.last_delivery) == ("success", newest.id)
    assert set(Delivery.objects.values_list("status", flat=True)) == {"success", "error"}
