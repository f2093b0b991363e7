"""The browser that looks at every page, and the record of a whole sweep."""

from collections.abc import Iterator
from ipaddress import ip_network
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings as project
from django.test import Client
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from agency.models import User
from tests.flows.every_page.checks import OPTIONS
from tests.flows.every_page.dependencies import Recorder
from tests.flows.every_page.pages import EVERY_PAGE, FRAMES
from tests.flows.every_page.record import Tree, files_changed_since, record_of, write_record
from tests.flows.every_page.sweep import IS_WHOLE, Open, Sweep, is_wanted
from tests.packs.small_library import write_library

RECORDER: Final = pytest.StashKey[Recorder]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of pages that are as they were at the last `make sweep`."""
    left_out = [item for item in items if _is_unchanged(item.get_closest_marker("sweeps"))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_unchanged(item.get_closest_marker("sweeps"))]


def _is_unchanged(mark: pytest.Mark | None) -> bool:
    return mark is not None and not any(map(is_wanted, mark.args))


@pytest.fixture
def _installation(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture(scope="session")
def sweep(request: pytest.FixtureRequest) -> Iterator[Sweep]:
    """What opens and examines pages; a whole sweep records what each is made of."""
    if not IS_WHOLE:
        yield Sweep()
        return
    recorder = request.config.stash.setdefault(RECORDER, Recorder())
    with recorder.listening():
        yield Sweep(recorder)


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer, sweep: Sweep) -> Iterator[Open]:
    """Open the page in which everything is looked at, as somebody who has signed in or as nobody."""
    context = browser.new_context(base_url=live_server.url, **OPTIONS)
    page = context.new_page()
    sweep.open_without_cache(page)

    def open_as(person: User | None) -> Page:
        context.clear_cookies()
        if person:
            client = Client()
            client.force_login(person)
            session = client.cookies[project.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        return page

    yield open_as
    context.close()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the record of a whole sweep in which nothing was wrong."""
    recorder = session.config.stash.get(RECORDER, None)
    if recorder is None or exitstatus != pytest.ExitCode.OK:
        return
    missing = {*EVERY_PAGE} ^ recorder.pages
    if missing:
        pytest.exit(f"No record is kept: not looked at, or unknown: {', '.join(sorted(missing))}", returncode=1)
    files = {page: recorder.made_of(page, with_hooks=page in FRAMES) for page in EVERY_PAGE}
    changed = files_changed_since(recorder.began, chain.from_iterable(files.values()))
    if changed:
        pytest.exit(f"No record is kept: meanwhile changed: {', '.join(changed)}", returncode=1)
    write_record(record_of(files, Tree()))
