"""Beat asks on, whatever is done to its clock, and never fills a queue that nobody empties."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from config.celery import app
from config.celery.beat import Scheduler
from config.celery.tasks import MOST_WAITING, QueueLengths
from config.queues import TASKS, beat_schedule
from tests.processes.broker import forget_calls


class CountedConnection:
    """A connection to the broker that counts the channels which are opened over it."""

    def __init__(self, connection: Any) -> None:
        self._connection, self.channels = connection, 0

    def channel(self) -> Any:
        self.channels += 1
        return self._connection.channel()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    """A scheduler of its own over the empty queues of this test run's broker."""
    forget_calls()
    built = Scheduler(app)
    yield built
    built.close()
    forget_calls()


def test_it_knows_what_the_settings_ask_for(scheduler: Scheduler) -> None:
    assert set(scheduler.schedule) == set(beat_schedule())


def test_a_clock_that_is_set_back_an_hour_delays_nothing(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock that nobody sets stands, so that nothing is due a second time."""
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for entry in scheduler.schedule.values():
        assert entry.last_run_at
        entry.last_run_at -= timedelta(seconds=3_601)
    with time_machine.travel(datetime.now(UTC) - timedelta(hours=1)):
        while scheduler.tick() == 0:
            pass
    expected = Counter(task.queue.name for task in TASKS if not task.is_kept)
    assert {queue: scheduler.waiting_calls.number(queue) for queue in expected} == expected


def test_a_queue_that_nobody_empties_stays_short(scheduler: Scheduler) -> None:
    entry = scheduler.schedule["agency.send_mail"]
    for _ in range(MOST_WAITING + 5):
        scheduler.apply_entry(entry, producer=scheduler.producer)
    assert scheduler.waiting_calls.number("mail") == MOST_WAITING
    assert scheduler.waiting_calls.number("callbacks") == 0


def test_a_question_costs_no_channel_of_its_own(scheduler: Scheduler) -> None:
    """A channel is a connection to Redis, which forgets a queue that is empty."""
    broker = CountedConnection(scheduler.connection)
    waiting = QueueLengths(broker)
    assert [waiting.number(queue) for queue in ("mail", "callbacks")] == [0, 0]
    scheduler.apply_entry(scheduler.schedule["agency.send_mail"], producer=scheduler.producer)
    assert [waiting.number(queue) for queue in ("mail", "callbacks")] == [1, 0]
    waiting.close()
    assert broker.channels == 1
