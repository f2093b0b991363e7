"""Gives a test run throw-away servers before the settings are read, and keeps it off the outside network."""

import atexit
import os
import re
import time
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tools.local import ROOT, network_guard
from tools.local.errors import CannotStart
from tools.local.servers.starting import started_servers
from tools.local.state import throwaway
from tools.local.variables import new_secrets

STATE = ROOT / ".local-test"
# The variable with the folder of this run. Its workers share the folder, and it is removed at the end.
FOLDER = "TEST_FOLDER"
running = ExitStack()
header: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Generator[None, object, object]:
    """Run before pytest-django, which reads the settings in the same hook."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if not worker:
        _start()
    else:
        os.environ["REDIS_URL"] = with_database(os.environ["REDIS_URL"], int(worker.removeprefix("gw")) + 1)
    network_guard.install()
    return (yield)


def _start() -> None:
    started = time.monotonic()
    try:
        folder = running.enter_context(throwaway(STATE))
        servers = running.enter_context(started_servers(folder, durable=False))
    except CannotStart as error:
        pytest.exit(str(error), returncode=4)
    atexit.register(running.close)
    for name in [name for name in os.environ if name.startswith(("META_", "STRIPE_"))]:
        del os.environ[name]  # no test calls a real provider
    own = {"ENVIRONMENT": "test", "PUBLIC_URL": "http://testserver", "MEDIA_DIRECTORY": str(folder / "media")}
    own[FOLDER] = str(folder)
    own["DNS_SERVERS"] = "127.0.0.1:9"  # no server: tests of the DNS start their own
    os.environ.update({**own, **new_secrets(), **servers.env})
    if servers.processes:
        header.append(f"{' and '.join(servers.processes)} started in {time.monotonic() - started:.2f} s")


def with_database(url: str, number: int) -> str:
    """Give the URL of another database of the same Redis, so that parallel workers do not share data."""
    if url.startswith("unix:"):
        return f"{url.partition('?')[0]}?db={number}"
    return re.sub(r"^(\w+://[^/]+)(/\d*)?", rf"\g<1>/{number}", url)


def pytest_report_header() -> list[str]:
    return header


def pytest_unconfigure() -> None:
    running.close()
