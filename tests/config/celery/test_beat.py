"""Beat asks on, whatever is done to its clock, and never fills a queue that nobody empties."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from config.celery import app
from config.celery.beat import MOST_WAITING, Scheduler
from config.queues import TASKS, beat_schedule
from tests.processes.broker import forget_calls


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


def test_a_clock_that_is_set_back_an_hour_delays_nothing(scheduler: Scheduler) -> None:
    for entry in scheduler.schedule.values():
        assert entry.last_run_at
        entry.last_run_at -= timedelta(seconds=601)
    with time_machine.travel(datetime.now(UTC) - timedelta(hours=1)):
        while scheduler.tick() == 0:
            pass
    expected = Counter(task.queue.name for task in TASKS if not task.is_kept)
    assert {queue: scheduler.waiting_in(queue) for queue in expected} == expected


def test_a_queue_that_nobody_empties_stays_short(scheduler: Scheduler) -> None:
    entry = scheduler.schedule["agency.send_mail"]
    for _ in range(MOST_WAITING + 5):
        scheduler.apply_entry(entry, producer=scheduler.producer)
    assert scheduler.waiting_in("mail") == MOST_WAITING
    assert scheduler.waiting_in("callbacks") == 0
