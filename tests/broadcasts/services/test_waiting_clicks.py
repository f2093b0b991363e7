"""Clicks that wait in a process: one at a time writes them down, and none is lost on the way."""

from contextlib import closing

import pytest
from django.db import connection, connections

from broadcasts.models import Click
from broadcasts.services import link_clicks
from broadcasts.services.link_clicks import WaitingClicks
from broadcasts.services.tracked_links import LinkToken
from tests.parallel import at_once
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
THREADS, EACH = 2, 400


def recorded() -> list[int]:
    return sorted(Click.objects.values_list("contact_id", flat=True))


def test_one_recorder_runs_until_nothing_waits() -> None:
    waiting = WaitingClicks()
    assert [waiting.add(LinkToken(1, number, 0)) for number in (1, 2, 3)] == [True, False, False]
    assert waiting.record() is False
    assert (recorded(), waiting.add(LinkToken(1, 4, 0))) == ([1, 2, 3], True)


def test_those_that_cannot_be_written_down_wait_for_the_next_time() -> None:
    waiting = WaitingClicks()
    for number in (1, 2):
        waiting.add(LinkToken(1, number, 0))

    def hold(_: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        assert waiting.record() is True

    with connections["default"].cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE broadcasts_click IN EXCLUSIVE MODE")
        at_once(hold, times=1)
        cursor.execute("ROLLBACK")
    assert waiting.add(LinkToken(1, 3, 0)) is False, "a count that has begun goes on"
    assert waiting.record() is False
    assert recorded() == [1, 2, 3]


def test_they_are_written_down_at_once_though_the_connection_ended_while_nobody_used_it() -> None:
    waiting = WaitingClicks()
    waiting.add(LinkToken(1, 1, 0))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [pid] = cursor.fetchone()
    with closing(connection.copy()) as another, another.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, %s)", [pid, int(1_000 * PATIENCE_SECONDS)])
    assert waiting.record() is False
    assert recorded() == [1]


def test_more_than_may_wait_are_let_go(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(link_clicks, "MOST_WAITING", 2)
    waiting = WaitingClicks()
    for number in (1, 2, 3):
        waiting.add(LinkToken(1, number, 0))
    waiting.record()
    assert recorded() == [1, 2]
    assert [record.__dict__["clicks"] for record in caplog.records] == [1]


def test_threads_that_add_and_write_down_at_once_lose_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_clicks, "BATCH", 7)
    waiting = WaitingClicks()

    def follow(number: int) -> None:
        if waiting.add(LinkToken(1, number, 0)):
            assert waiting.record() is False

    at_once(follow, times=THREADS * EACH, threads=THREADS)
    assert recorded() == list(range(THREADS * EACH))
