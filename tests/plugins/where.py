"""Says where the time of a run goes: `make test ARGS=--where`.

Each worker measures its main thread in seconds of the clock: by test file, by fixture, and by cause. A cause ends when
another begins, so all causes of a worker add up to its time. Time without a named cause counts as Python. One table has
a file's processor time in the worker. Another has the processor time of the processes that the file started and waited
for. Compare these processor times on a machine that also does other work.
"""

import http.client
import inspect
import resource
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import psycopg
import pytest

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Seconds = defaultdict[str, float]

PYTHON: Final = "Python"
BROWSER: Final = "browser"
STAT: Final = Path("/proc/stat")
ROWS_SHOWN: Final = 40
# Calls in which a test may wait, and the name of their cause.
CALLS: Final = (
    (time, "sleep", "sleeping"),
    (threading.Event, "wait", "threads"),
    (threading.Thread, "join", "threads"),
    (threading.Barrier, "wait", "threads"),
    (subprocess.Popen, "__init__", "process starts"),
    (subprocess.Popen, "wait", "ends of processes"),
    (subprocess.Popen, "communicate", "ends of processes"),
    (http.client.HTTPConnection, "getresponse", "answers by HTTP"),
    (psycopg.Cursor, "execute", "statements"),
    (psycopg.Cursor, "executemany", "statements"),
    (psycopg.Connection, "connect", "database connections"),
)


class Stopwatch:
    """Seconds by name. Time counts for the innermost name only."""

    def __init__(self, outermost: str) -> None:
        self.seconds: Seconds = defaultdict(float)
        self._names = [outermost]
        self._since = time.perf_counter()

    @property
    def innermost(self) -> str:
        return self._names[-1]

    def begin(self, name: str) -> None:
        self._count()
        self._names.append(name)

    def end(self) -> None:
        self._count()
        self._names.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        self.seconds[self._names[-1]] += now - self._since
        self._since = now


causes: Stopwatch | None = None


@contextmanager
def spent_on(cause: str) -> Iterator[None]:
    """Count the block for a cause, if the run is measured and this is the thread of the tests."""
    if causes is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    causes.begin(cause if causes.innermost == PYTHON else causes.innermost)
    try:
        yield
    finally:
        causes.end()


def _counted(call: Callable[Arguments, Result], cause: str) -> Callable[Arguments, Result]:
    @wraps(call)
    def counted(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with spent_on(cause):
            return call(*args, **kwargs)

    return counted


def _calls() -> Iterator[tuple[Any, str, str]]:
    yield from CALLS
    with suppress(ImportError):  # not every machine has Playwright
        from playwright._impl._sync_base import SyncBase

        yield SyncBase, "_sync", BROWSER


def _watch_calls() -> None:
    for owner, name, cause in _calls():
        declared = inspect.getattr_static(owner, name)
        of_class = isinstance(declared, classmethod)  # so that a call on a subclass returns the subclass
        counted = _counted(declared.__func__ if of_class else declared, cause)
        setattr(owner, name, classmethod(counted) if of_class else counted)


class Where:
    """The measurements of one worker."""

    def __init__(self) -> None:
        self.files: Seconds = defaultdict(float)
        self.processor: Seconds = defaultdict(float)
        self.processes: Seconds = defaultdict(float)
        self.fixtures = Stopwatch("tests")
        self.causes = Stopwatch(PYTHON)
        self.began = _jiffies()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        began, used, used_by_others = time.perf_counter(), time.process_time(), _processor_of_ended_processes()
        result = yield
        name = item.nodeid.partition("::")[0]
        self.files[name] += time.perf_counter() - began
        self.processor[name] += time.process_time() - used
        self.processes[name] += _processor_of_ended_processes() - used_by_others
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        self.fixtures.begin(f"{fixturedef.argname} ({fixturedef.scope})")
        try:
            return (yield)
        finally:
            self.fixtures.end()

    def pytest_collection(self) -> None:
        self.causes.begin("collection of tests")

    def pytest_collection_finish(self) -> None:
        self.causes.end()

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None, object, object]:
        with spent_on("start of a worker"):
            return (yield)

    def measured(self) -> dict[str, dict[str, float]]:
        for stopwatch in (self.fixtures, self.causes):
            stopwatch.begin("")  # counts the time until now
        return {
            "by file": dict(self.files),
            "by file, processor of the worker": dict(self.processor),
            "by file, processor of its processes": dict(self.processes),
            "by fixture, its beginning and its end": dict(self.fixtures.seconds),
            "by cause": dict(self.causes.seconds),
        }


def _processor_of_ended_processes() -> float:
    """Give the processor time of all ended child processes that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _jiffies() -> tuple[int, int]:
    """Give the idle time and the whole time of all cores together."""
    user, nice, system, idle, waiting, *others = map(int, STAT.read_text().splitlines()[0].split()[1:9])
    return idle + waiting, user + nice + system + idle + waiting + sum(others)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--where", action="store_true", help="print where the time of the run goes")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--where"):
        config.pluginmanager.register(Report(_jiffies()) if _is_controller(config) else _worker(), "where")


def _is_controller(config: pytest.Config) -> bool:
    return not hasattr(config, "workerinput") and bool(config.getoption("numprocesses", None))


def _worker() -> Where:
    global causes
    where = Where()
    causes = where.causes
    _watch_calls()
    finish = pytest.FixtureDef.finish

    def measured_finish(self: pytest.FixtureDef[Any], request: Any) -> None:
        where.fixtures.begin(f"{self.argname} ({self.scope})")
        try:
            finish(self, request)
        finally:
            where.fixtures.end()

    pytest.FixtureDef.finish = measured_finish  # type: ignore[method-assign]  # pytest has no hook around it
    return where


class Report:
    """Adds up the measurements of all workers."""

    def __init__(self, began: tuple[int, int]) -> None:
        self.tables: defaultdict[str, Seconds] = defaultdict(lambda: defaultdict(float))
        self.began = began

    def pytest_testnodedown(self, node: Any) -> None:
        self.add(getattr(node, "workeroutput", {}).get("where", {}))

    def add(self, measured: Mapping[str, Mapping[str, float]]) -> None:
        for title, seconds in measured.items():
            for name, spent in seconds.items():
                self.tables[title][name] += spent

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for title, seconds in self.tables.items():
            terminalreporter.section(f"worker-seconds {title}: {sum(seconds.values()):.0f}")
            for name, spent in nlargest(ROWS_SHOWN, seconds.items(), key=itemgetter(1)):
                terminalreporter.write_line(f"{spent:8.1f}  {name}")
        idle, up = (now - then for now, then in zip(_jiffies(), self.began, strict=True))
        terminalreporter.write_line(f"The machine's cores were idle for {idle / max(up, 1):.0%} of the run.")


def pytest_sessionfinish(session: pytest.Session) -> None:
    where = session.config.pluginmanager.get_plugin("where")
    if not isinstance(where, Where):
        return
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["where"] = where.measured()
    else:
        report = Report(where.began)
        report.add(where.measured())
        session.config.pluginmanager.register(report)
