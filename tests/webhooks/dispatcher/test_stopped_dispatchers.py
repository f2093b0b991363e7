"""A dispatcher that stood still while others took over sends nothing of what it had leased."""

from collections import Counter
from collections.abc import Iterator

import pytest

from config.leases import runs as leased_runs
from tests.processes import stopped as stopped_processes
from tests.processes.preloaded import Order, Preloaded
from tests.processes.stopped import go_on, wait_until_stopped
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import ended, record_events, subscribe
from webhooks.models import Attempt, DispatcherRun, QueuedDelivery

# The others wait for less than twenty seconds here, and for longer than the stopped one may be sure of its leases.
LEASE_SECONDS = 10


@pytest.fixture
def stopping_dispatcher(transactional_db: None, preloaded: Preloaded) -> Iterator[int]:
    with preloaded.killed_at_end(Order(stopped_processes.__name__, ("dispatcher",))) as pid:
        yield pid


def test_a_dispatcher_that_was_stopped_sends_nothing_that_others_have_taken_over(
    a: Tenant,
    stopping_dispatcher: int,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    record_events(a, 3)
    wait_until_stopped(stopping_dispatcher)
    assert QueuedDelivery.objects.filter(run__isnull=False).exists()
    stopped = DispatcherRun.objects.get().number
    monkeypatch.setattr(leased_runs, "LEASE_SECONDS", LEASE_SECONDS)
    start_dispatcher()
    ended(a, 3)
    known = set(DispatcherRun.objects.values_list("number", flat=True)) | {stopped}

    go_on(stopping_dispatcher)

    until(DispatcherRun.objects.exclude(number__in=known).exists, what="the next run of the one that was stopped")
    until(lambda: stopped not in DispatcherRun.objects.values_list("number", flat=True), what="the end of that run")
    assert set(Counter(one.headers["x-svc-delivery"] for one in receiver.requests).values()) == {1}
    assert Attempt.objects.count() == len(receiver.requests) == 3
