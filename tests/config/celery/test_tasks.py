"""What the tasks have in common: one at a time, and in batches that end."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from agency.services.hourly_counts import CountedHours, HourlyCounter, hourly_counters
from agency.services.notifications.recording import StateCheck, state_checks
from agency.tasks import check_lasting_states, count_hours
from config.celery.tasks import advisory_lock, in_batches, one_at_a_time
from config.db import database_now
from config.hooks import Registry
from config.metrics import take_sums
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.django_db(transaction=True)
def test_a_task_does_nothing_while_another_process_is_at_it() -> None:
    begun, ending, done = threading.Event(), threading.Event(), []

    @one_at_a_time
    def work() -> None:
        done.append(1)
        begun.set()
        ending.wait(PATIENCE_SECONDS)

    def elsewhere() -> None:
        try:
            work()
        finally:
            connection.close()

    other = threading.Thread(target=elsewhere)
    other.start()
    assert begun.wait(PATIENCE_SECONDS)
    work()
    assert len(done) == 1
    ending.set()
    other.join()
    work()
    assert len(done) == 2


@pytest.mark.django_db
def test_a_lock_is_released_by_a_fault_as_well() -> None:
    with pytest.raises(ZeroDivisionError), advisory_lock("a name"):
        raise ZeroDivisionError
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
        assert cursor.fetchone() == (0,)


def test_batches_end_with_the_work_or_with_the_time() -> None:
    left = [0, 1, 1]
    in_batches(left.pop, seconds=60)
    assert left == []
    calls: list[int] = []

    def work() -> bool:
        calls.append(1)
        return True

    in_batches(work, seconds=0)
    assert len(calls) == 1


@pytest.mark.django_db
def test_the_time_is_the_database_s() -> None:
    first, second = database_now(), database_now()
    assert first < second
    assert first.utcoffset() is not None


def a_check(name: str, work: Callable[[], object]) -> StateCheck:
    return StateCheck(name, lambda now: bool(work()))


def a_counter(name: str, work: Callable[[], object]) -> HourlyCounter:
    return HourlyCounter(name, lambda *_: CountedHours((), newest=int(bool(work()))))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("task", "registry", "make", "kind"),
    [
        (check_lasting_states, state_checks, a_check, "state check"),
        (count_hours, hourly_counters, a_counter, "hourly counter"),
    ],
    ids=["checks", "counters"],
)
def test_a_part_that_fails_keeps_no_other_from_its_turn(
    task: Callable[[], None],
    registry: Registry[Any],
    make: Callable[[str, Callable[[], object]], Any],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    last: list[None] = []
    parts = make("broken", lambda: 1 / 0), *registry, make("last", lambda: last.append(None))
    monkeypatch.setattr(registry, "_items", {part.name: part for part in parts})
    take_sums()
    task()
    assert last
    assert take_sums()[f"periodic_faults_total|{kind} broken"] == 1
    [line] = [record for record in caplog.records if record.getMessage() == "a part of a task failed"]
    assert (line.__dict__["part"], line.__dict__["fault"]) == (f"{kind} broken", "ZeroDivisionError")
