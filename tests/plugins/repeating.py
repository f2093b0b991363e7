"""Repeats tests on a busy machine: `make test ARGS="tests/x.py::test_y --repeat 20 --beside 2"`."""

import os
import sys

import pytest

from tests.processes import starting

FIXTURE = "_repetition"
SPIN = "while True: pass"
busy: list[starting.Process] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--repeat", type=int, default=1, metavar="N", help="run each chosen test N times")
    parser.addoption("--beside", type=int, default=0, metavar="K", help="let K processes compute beside the tests")


@pytest.fixture
def _repetition(request: pytest.FixtureRequest) -> str:
    """Give the number of this repetition."""
    return str(request.param)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    times: int = metafunc.config.getoption("repeat")
    if times > 1:
        metafunc.fixturenames.append(FIXTURE)
        numbers = [f"{number}-{times}" for number in range(1, times + 1)]
        metafunc.parametrize(FIXTURE, numbers, indirect=True, ids=numbers, scope="function")


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        wanted: int = session.config.getoption("beside")
        busy.extend(starting.start_process([sys.executable, "-c", SPIN], os.environ) for _ in range(wanted))


def pytest_sessionfinish() -> None:
    while busy:
        starting.kill(busy.pop())
