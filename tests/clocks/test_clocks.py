"""The product's own processes at work on hosts whose clocks disagree, and are set back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from config.redis import call_redis
from tests.clocks.hosts import Host, running_host
from tests.processes import own_processes
from tests.processes.broker import forget_calls
from tests.processes.preloaded import Preloaded
from tests.waiting import until
from tools.local.runner.plan import ALONE, CELERY, Worker
from webhooks.models import DispatcherRun

HOUR = 3600
# The worker's own queue alone, which a task of beat's comes to every few seconds.
PULSE = (*CELERY, *Worker("worker", ("pulse",), 1).arguments(), *ALONE)


StartHost = Callable[..., Host]


@pytest.fixture
def start_host(transactional_db: None, tmp_path: Path, preloaded: Preloaded) -> Iterator[StartHost]:
    """Start a worker of the plan by name, or beat, or what has these arguments; they end with the test."""
    numbers = count()
    forget_calls()
    with ExitStack() as running:

        def start(name: str, *, ahead: float, arguments: tuple[str, ...] = ()) -> Host:
            number = next(numbers)
            arguments = arguments or own_processes.celery_arguments(name, number=number)
            host = running_host(preloaded, tmp_path / f"clock-{number}", arguments, {}, ahead=ahead)
            return running.enter_context(host)

        yield start
    forget_calls()


def runs() -> set[int]:
    return set(DispatcherRun.objects.values_list("number", flat=True))


def has_others(before: set[int]) -> bool:
    return bool(runs() - before)


def test_a_dispatcher_starts_by_itself_and_again_whatever_the_clocks_say(start_host: StartHost) -> None:
    """Two hosts ten seconds apart and no beat; one is killed, then set back an hour and killed again."""
    slow, _ = start_host("dispatcher", ahead=-5), start_host("dispatcher", ahead=5)
    until(lambda: len(runs()) == 2, what="the processes")
    for ahead in (-5, -HOUR):
        slow.set_clock(ahead)
        slow.wait_until_set(ahead)
        before = runs()
        slow.kill_child()
        until(partial(has_others, before), what="the processes")
        until(lambda: len(runs()) == 2, what="the processes")


def test_a_worker_works_for_a_beat_whose_clock_differs_and_is_set_back(start_host: StartHost) -> None:
    """So none of beat's calls is late by a clock, and beat waits for no hour to come again."""

    def forget_worker() -> None:
        call_redis(lambda redis: redis.delete("worker:seen"))

    def seen() -> bool:
        return call_redis(lambda redis: redis.exists("worker:seen")) == 1

    worker = start_host("worker", ahead=5, arguments=PULSE)
    until(seen, what="the processes")
    beat = start_host("beat", ahead=-5)
    forget_worker()
    until(seen, what="the processes")
    for host in (beat, worker):
        host.set_clock(-HOUR)
        host.wait_until_set(-HOUR)
        forget_worker()
        until(seen, what="the processes")
