"""A dispatcher with nothing to do asks the database little, and misses nothing by that."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils.timezone import now

from config.leases.claimer import REST_SECONDS, SOON_SECONDS, SWEEP_SECONDS, Claimer, Demand
from config.leases.runs import GRACE_SECONDS
from tests.config.leases.resting import (
    A_MOMENT,
    LONG_SECONDS,
    rest_at_once,
    rest_for_long,
    rest_soon,
    statements_of,
    wait_for_rest,
)
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import ended, record_events, subscribe
from tests.webhooks.dispatcher.other_dispatcher import OtherDispatcher, record_wanted_events
from tests.webhooks.dispatcher.test_faults import away
from webhooks.dispatcher.claimer import DeliveryClaimer
from webhooks.dispatcher.fan_out import FanOut
from webhooks.dispatcher.loop import Dispatcher
from webhooks.dispatcher.queries import NO_CAPACITY, Capacity
from webhooks.models import DispatcherRun, QueuedDelivery

__all__ = ["away"]

Claimers = Callable[[], list[Claimer[Capacity]]]
ROUNDS = 4


@pytest.fixture
def idle(transactional_db: None) -> Iterator[DeliveryClaimer]:
    """The claimer of a dispatcher that has been there for a round, and that hears wake-ups."""

    def answer() -> None:
        demand.answer(Capacity(1_000, 1_000, {}, (), (), (), (), 0))

    demand = Demand(nothing=NO_CAPACITY, wake=answer)
    claimer = DeliveryClaimer(1, demand, lambda leased, snapshots: None, lambda: None)
    claimer.hears_wake_ups = lambda: True
    assert claimer.work_once()
    yield claimer
    claimer.connection.close()


def claimers_of(runs: list[Dispatcher]) -> Claimers:
    return lambda: [run.claimer for run in runs[-1:]]


def test_a_round_at_rest_asks_five_things_and_one_for_new_events(
    idle: DeliveryClaimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_at_once(monkeypatch)
    assert idle.work_once()
    fan_out = FanOut(idle.run, idle.shards, lambda: None, pace=lambda: A_MOMENT)
    assert fan_out.work_once()

    asked = statements_of(idle, ROUNDS)
    found = statements_of(fan_out, ROUNDS)
    fan_out.connection.close()

    assert idle.pace == A_MOMENT
    assert len(asked) == 5 * ROUNDS, "\n".join(asked)
    assert len(found) == ROUNDS, "\n".join(found)


def test_a_dispatcher_rests_for_two_seconds_and_is_seen_in_time() -> None:
    assert (SWEEP_SECONDS, REST_SECONDS) == (0.5, 2.0)
    assert REST_SECONDS + SWEEP_SECONDS <= SOON_SECONDS
    assert REST_SECONDS + SWEEP_SECONDS < GRACE_SECONDS


@pytest.mark.parametrize("waits_long", [False, True])
def test_what_is_due_before_the_end_of_a_rest_keeps_a_dispatcher_awake(
    a: Tenant, other: OtherDispatcher, start_receiver: StartReceiver, waits_long: bool
) -> None:
    record_wanted_events(a, start_receiver)
    other.make_deliveries()
    found = {}
    for seconds in (SOON_SECONDS * 100, SOON_SECONDS):
        due_at = now() + timedelta(seconds=seconds)
        QueuedDelivery.objects.update(is_ready=False, waits_long=waits_long, due_at=due_at)
        found[seconds] = other.claimer.sweep(other.connection)
    assert list(found.values()) == [False, True]


def test_a_dispatcher_at_rest_is_woken_at_once(
    a: Tenant,
    runs: list[Dispatcher],
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rest_for_long(monkeypatch)
    subscribe(a, start_receiver())
    start_dispatcher()
    for number in (1, 2):
        wait_for_rest(claimers_of(runs), LONG_SECONDS)
        record_events(a)
        ended(a, number)


def test_a_dispatcher_at_rest_finds_an_event_whose_wake_up_was_lost(
    a: Tenant,
    runs: list[Dispatcher],
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rest_soon(monkeypatch)
    receiver = start_receiver()
    subscribe(a, receiver)
    start_dispatcher()
    wait_for_rest(claimers_of(runs))
    monkeypatch.setattr("agency.services.events.wake_up", lambda name: None)
    record_events(a)
    until(lambda: receiver.requests, what="a sweep")


def test_a_dispatcher_at_rest_takes_over_from_one_that_died(
    a: Tenant,
    runs: list[Dispatcher],
    other: OtherDispatcher,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record_wanted_events(a, start_receiver)
    assert len(other.take()) == 1
    rest_soon(monkeypatch)
    start_dispatcher()
    wait_for_rest(claimers_of(runs))
    other.die()
    ended(a)


def test_a_dispatcher_that_hears_no_wake_ups_does_not_rest(
    away: None, runs: list[Dispatcher], start_dispatcher: StartDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.leases.claimer.AWAKE_SECONDS", 0.0)
    start_dispatcher()
    for _ in range(2):  # its start is seen as a round, too
        wait_for_a_round(DispatcherRun)
    assert [one.pace for one in claimers_of(runs)()] == [SWEEP_SECONDS]
