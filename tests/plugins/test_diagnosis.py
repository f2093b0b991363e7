"""The report of a red test shows the output of processes, database waits, other threads, and the machine's load."""

import re
import socket
from pathlib import Path

import pytest
from django.db import connection

from tests.plugins import diagnosis
from tests.plugins.own_run import run_tests
from tools.local.database_proxy import Proxy

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

TESTS = '''
import os, sys, threading, time
import psycopg, pytest
from tests.processes.starting import start_process

def connect(name):
    return psycopg.connect(os.environ["DATABASE_URL"], application_name=name, autocommit=True)

def until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)

@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Writes down what it is told."""
    folder = tmp_path_factory.mktemp("server")
    log, pipe = folder / "log", folder / "pipe"
    os.mkfifo(pipe)
    program = "import sys; [print('heard', line, end='', flush=True) for line in open(sys.argv[1])]"
    process = start_process([sys.executable, "-c", program, str(pipe)], os.environ, log=log)
    with pipe.open("w", buffering=1) as told:
        def tell(words):
            print(words, file=told)
            until(lambda: words in log.read_text())
        yield tell
    process.wait(60)

# The server has databases of other tests, in which somebody may wait as well.
WAITS = """
SELECT FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'waiter' AND wait_event_type = 'Lock'
"""

@pytest.fixture
def locked(request):
    """One connection holds what another waits for."""
    held, waits = request.param
    with connect("holder") as holder, connect("waiter") as waiter, connect("observer") as observer:
        holder.execute("BEGIN")
        holder.execute(held)
        thread = threading.Thread(target=waiter.execute, args=[waits], name="waiting thread")
        thread.start()
        until(lambda: observer.execute(WAITS).fetchone() is not None)
        yield
        holder.execute("ROLLBACK")
        thread.join(60)

def test_before(server):
    server("earlier words")

UPDATE = "UPDATE django_migrations SET name = name WHERE id = 1"

@pytest.mark.parametrize(
    "locked", [("LOCK TABLE django_migrations", "SELECT 'waits' FROM django_migrations"), (UPDATE, UPDATE)],
    ids=["table", "row"], indirect=True
)
def test_of(server, locked):
    server("later words")
    process = start_process([sys.executable, "-c", "import sys; print('last words'); sys.exit(3)"], os.environ)
    process.wait(60)
    assert False

@pytest.fixture
def broken():
    assert False

def test_set_up(broken):
    pass

@pytest.fixture
def breaks():
    yield
    assert False

def test_torn_down(breaks):
    pass
'''


def reports(printed: str) -> dict[str, str]:
    """Give the report of each failed test by the text of its headline."""
    parts = re.split(r"^_{3,} (.+?) _{3,}$", printed.partition("short test summary info")[0], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def check_who_waits(report: str, statement: str, lock: str) -> None:
    waiter = re.search(rf"^pid=(\d+) .*=waiter .*waits_for=Lock: {lock} .*query={statement}$", report, re.MULTILINE)
    holder = re.search(r"^pid=(\d+)  state=idle in transaction  application_name=holder ", report, re.MULTILINE)
    assert waiter, report
    assert holder, report
    assert f"blocked_by=[{holder[1]}]" in waiter[0]
    assert re.search(rf"^pid={waiter[1]}  locktype={lock} .*relation=django_migrations$", report, re.MULTILINE), report


def check_what_was_written(report: str) -> None:
    assert re.search(r"^-+ log of process \d+, running: \S+ -c .*heard.*$\n^heard later words$", report, re.MULTILINE)
    assert re.search(r"^-+ log of process \d+, ended with status 3: .*$\n^last words$", report, re.MULTILINE)
    assert "heard earlier words" not in report


def test_the_report_of_a_failed_test_says_what_everybody_else_did(tmp_path: Path) -> None:
    status, printed = run_tests(tmp_path, TESTS, "diagnosis")
    assert status == 1, printed
    found = reports(printed)
    table, row = found.pop("test_of[table]"), found.pop("test_of[row]")
    assert set(found) == {"ERROR at setup of test_set_up", "ERROR at teardown of test_torn_down"}
    for report in (table, row, *found.values()):
        assert "- database -" in report
        assert re.search(r"^load [\d. ]+ on \d+ cores, \d+ of \d+ MB of memory free$", report, re.MULTILINE)
        assert re.search(r"^the test ran for \d+\.\d s, its (setup|call|teardown) for", report, re.MULTILINE)
    check_who_waits(table, "SELECT 'waits' FROM django_migrations", "relation")
    check_who_waits(row, "UPDATE django_migrations SET name = name WHERE id = 1", "transactionid")
    for report in (table, row):
        check_what_was_written(report)
        assert re.search(r"^waiting thread:\n(  .*\n)+?  .*psycopg/cursor.py.*, in execute$", report, re.MULTILINE), (
            report
        )
    assert "log of process" not in found["ERROR at setup of test_set_up"]


class FallsSilent(Proxy):
    """Lets clients connect and then sends no more answers."""

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        while piece := source.recv(65536):
            sink.sendall(piece)
            if piece.endswith(b"Z\0\0\0\5I"):  # ready for a query
                return


def test_a_server_that_falls_silent_is_reported_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    address = connection.settings_dict
    proxy = FallsSilent(f"{address['HOST']}/.s.PGSQL.{address['PORT'] or 5432}")
    monkeypatch.setattr(diagnosis, "LIMIT_SECONDS", 1.0)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(address, "HOST", "127.0.0.1")
            patched.setitem(address, "PORT", str(proxy.port))
            assert diagnosis.database_activity() == "PostgreSQL did not answer within 1 s."
    finally:
        proxy.close()
