"""Worker runs in a table of any app: who is there, who is lost, whose leases are freed."""

from collections.abc import Iterable, Iterator

import pytest
from django.db import connection

from config.leases.connections import Connection, open_connection
from config.leases.runs import GRACE_SECONDS, LEASE_SECONDS, WorkerRuns
from tests.waiting import until

PRESENCE = 7_999_999
freed: list[tuple[int, bool]] = []


def free(_: Connection, runs: Iterable[int], after: int, died: bool) -> int | None:
    """Free one lease a page, of three."""
    freed.extend((run, died) for run in runs)
    return None if after == 2 else max(after, 0) + 1


RUNS = WorkerRuns(table="some_run", presence=PRESENCE, free=free)
OLD = "UPDATE some_run SET seen_at = clock_timestamp() - make_interval(secs => %s) WHERE number = %s"


@pytest.fixture
def one(transactional_db: None) -> Iterator[Connection]:
    """A connection of the first of two processes, beside a table of runs."""
    freed.clear()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE some_run (number bigint PRIMARY KEY, started_at timestamptz NOT NULL,"
            " seen_at timestamptz NOT NULL, lost_at timestamptz)"
        )
    opened = open_connection("one")
    yield opened
    opened.close()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE some_run")


def begin(opened: Connection, number: int) -> None:
    RUNS.begin(opened, run=number)
    RUNS.hold_presence(opened, run=number)


def numbers() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM some_run")
        return {row[0] for row in cursor.fetchall()}


def let_pass(number: int, seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(OLD, [seconds, number])


def test_a_run_that_is_seen_and_present_is_left_alone(one: Connection) -> None:
    with open_connection("other") as other:
        begin(one, 1)
        begin(other, 2)
        let_pass(2, GRACE_SECONDS + 1)
        assert RUNS.end_lost(one, run=1) == 0
    assert (numbers(), freed) == ({1, 2}, [])


def test_a_run_without_its_lock_is_lost_after_a_moment(one: Connection) -> None:
    begin(one, 1)
    with open_connection("other") as other:
        RUNS.begin(other, run=2)
    assert RUNS.end_lost(one, run=1) == 0
    let_pass(2, GRACE_SECONDS + 1)
    assert RUNS.end_lost(one, run=1) == 1
    assert (numbers(), freed) == ({1}, [(2, True)] * 3)


def test_a_run_that_was_not_seen_for_long_is_lost_and_hears_of_it(one: Connection) -> None:
    with open_connection("other") as other:
        begin(one, 1)
        begin(other, 2)
        assert RUNS.be_seen(other, run=2)
        let_pass(2, LEASE_SECONDS + 1)
        assert RUNS.end_lost(one, run=1) == 1
        assert not RUNS.be_seen(other, run=2)
    assert freed == [(2, True)] * 3


def test_a_run_that_ends_frees_what_it_holds(one: Connection) -> None:
    begin(one, 1)
    RUNS.end(one, run=1)
    assert (numbers(), freed) == (set(), [(1, False)] * 3)


def test_what_a_run_leaves_half_freed_is_freed_by_the_next(one: Connection) -> None:
    with open_connection("other") as other:
        begin(other, 2)
    let_pass(2, GRACE_SECONDS + 1)
    begin(one, 1)
    until(lambda: RUNS.find_lost(one, run=1) == [2], what="the database to notice that it is gone")
    assert RUNS.free_a_page(one, runs=[2]) == 1
    assert (numbers(), freed) == ({1, 2}, [(2, True)])
    assert RUNS.end_lost(one, run=3) == 1
    assert numbers() == {1}


def test_a_clock_that_was_put_back_keeps_no_dead_run_and_takes_no_living_one(one: Connection) -> None:
    """Both were seen an hour from now."""
    begin(one, 1)
    with open_connection("other") as other:
        begin(other, 2)
    with open_connection("third") as third:
        begin(third, 3)
        for number in (1, 2, 3):
            let_pass(number, -3_600)
        until(lambda: RUNS.end_lost(one, run=1) == 1)
        assert numbers() == {1, 3}
        assert RUNS.be_seen(third, run=3)
