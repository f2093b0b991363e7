"""Adds to a failed test's report what processes, PostgreSQL, other threads and the machine did."""

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.processes import starting

Section = tuple[str, str]
ANSWER_SECONDS, LIMIT_SECONDS = 20, 30.0
ROWS_SHOWN, THREADS_SHOWN, FRAMES_SHOWN = 40, 20, 6
began = pytest.StashKey[float]()
PRESSURE = Path("/proc/pressure")
# Letters of pytest's option `-r` that ask for the output of passed tests.
SHOW_PASSED = frozenset("PA")

# Names `pg_catalog`, because a test may have put its own time functions before PostgreSQL's (tests/clocks).
AT_WORK = """
SELECT pid, coalesce(state, backend_type) AS state, application_name,
    wait_event_type || ': ' || wait_event AS waits_for, pg_blocking_pids(pid) AS blocked_by,
    round(extract(epoch FROM pg_catalog.clock_timestamp() - query_start), 1) AS query_seconds,
    round(extract(epoch FROM pg_catalog.clock_timestamp() - xact_start), 1) AS transaction_seconds,
    left(query, 300) AS query
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IS DISTINCT FROM 'idle'
ORDER BY xact_start NULLS LAST LIMIT %s
"""
# A connection that waits for a row waits for the transaction that holds the row. Meanwhile it has a lock on the row's
# place in the table. This lock shows which table it is.
WAITING = """
SELECT lock.pid, lock.locktype, lock.mode,
    coalesce(lock.relation, (
        SELECT max(place.relation::oid) FROM pg_locks place WHERE place.pid = lock.pid AND place.locktype = 'tuple'
    ))::regclass::text AS relation,
    lock.classid, lock.objid
FROM pg_locks lock JOIN pg_stat_activity USING (pid)
WHERE NOT lock.granted AND datname = current_database()
ORDER BY lock.waitstart LIMIT %s
"""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    starting.begin_test()
    item.stash[began] = time.perf_counter()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections += _sections(item, report)
    elif report.passed and not SHOW_PASSED.intersection(item.config.getoption("reportchars")):
        report.sections.clear()  # Workers would send it with each report, and nobody sees it.
    return report


def _sections(item: pytest.Item, report: pytest.TestReport) -> Iterator[Section]:
    yield "database", _described(database_activity)
    yield "other threads", _described(_other_threads)
    yield "machine", _described(lambda: _machine(time.perf_counter() - item.stash[began], report))
    for log in starting.logs():
        if written := _described(log.newest):
            yield log.title, written


def _described(describe: Callable[[], str]) -> str:
    """Describe one side of a failure. If that raises an error, the error is the description."""
    try:
        return describe()
    except Exception as error:  # noqa: BLE001  # no error may hide the test's failure
        return f"not known: {error!r}"


def _other_threads() -> str:
    """Describe the position of each other thread of this process; the test may have left one waiting."""
    frames, here = sys._current_frames(), threading.get_ident()
    threads = [thread for thread in threading.enumerate() if thread.ident in frames and thread.ident != here]
    stacks = ("".join(traceback.format_stack(frames[thread.ident or 0])[-FRAMES_SHOWN:]) for thread in threads)
    told = [f"{thread.name}:\n{stack}" for thread, stack in zip(threads, stacks, strict=True)]
    return "\n".join(told[:THREADS_SHOWN]) or "none"


def _machine(seconds: float, report: pytest.TestReport) -> str:
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    free, total = (int(fields[name].split()[0]) // 1024 for name in ("MemAvailable", "MemTotal"))
    load = " ".join(f"{number:.2f}" for number in os.getloadavg())
    lines = [
        f"the test ran for {seconds:.1f} s, its {report.when} for {report.duration:.1f} s",
        f"load {load} on {os.cpu_count()} cores, {free} of {total} MB of memory free",
    ]
    if PRESSURE.exists():
        lines += [f"pressure on {path.name}: {path.read_text().splitlines()[0]}" for path in sorted(PRESSURE.iterdir())]
    return "\n".join(lines)


def database_activity() -> str:
    """Describe what all connections to the test's database do now, or that PostgreSQL does not answer."""
    from tests.processes.own_processes import database_url  # this import needs Django's settings

    url, told = database_url(), []  # read here, because the other thread has no test database

    def ask() -> None:
        told.append(_described(lambda: _activity(url)))

    # A stopped server does not answer at all, so the limits of its statements do not help.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(LIMIT_SECONDS)
    return told[0] if told else f"PostgreSQL did not answer within {LIMIT_SECONDS:.0f} s."


def _activity(url: str) -> str:
    """Ask over a new connection, because the test's own may be in a failed transaction."""
    options = f"-c statement_timeout={ANSWER_SECONDS}s -c lock_timeout={ANSWER_SECONDS}s"
    with psycopg.connect(
        url, connect_timeout=ANSWER_SECONDS, options=options, application_name="diagnosis", autocommit=True
    ) as connection:
        at_work = _rows(connection, AT_WORK)
        waiting = _rows(connection, WAITING)
    return "\n".join(["At work:", *(at_work or ["nobody"]), "Locks that are waited for:", *(waiting or ["none"])])


def _rows(connection: "psycopg.Connection[Any]", query: str) -> list[str]:
    cursor = connection.execute(query.encode(), [ROWS_SHOWN])
    names = [column.name for column in cursor.description or ()]
    return [_line(dict(zip(names, row, strict=True))) for row in cursor]


def _line(row: dict[str, Any]) -> str:
    return "  ".join(
        f"{name}={' '.join(str(value).split())}" for name, value in row.items() if value not in (None, [], "")
    )
