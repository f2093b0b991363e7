"""A real browser for the stories that need one."""

import os
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from tests.flows.agency_site import open_agency_site
from tools.sandbox import RunningSandbox, SandboxConfig, open_sandbox
from webhooks.dispatcher.loop import Dispatcher

# What a page is expected to show is waited for as long as a busy machine takes; the library's own limit is 5 s.
expect.set_options(timeout=60_000)
# The headless shell comes first: a start or a context costs it less than half of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium(_django_beside_the_browser: None) -> str:
    """Where chromium is; without one the story is skipped, but never in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, Any], chromium: str, agency_site: list[str]
) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": chromium, "args": agency_site}


@pytest.fixture(scope="session")
def agency_site() -> Iterator[list[str]]:
    """The site to which an agency's customers return; the flags with which a browser finds it."""
    with open_agency_site() as flags:
        yield flags


@pytest.fixture
def dispatcher(transactional_db: None) -> Iterator[None]:
    """Deliver webhooks while the story goes on."""
    at_work, leaving = Dispatcher(), threading.Event()
    thread = threading.Thread(target=at_work.run, kwargs={"should_stop": leaving.is_set})
    thread.start()
    yield
    leaving.set()
    thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def sandbox(live_server: LiveServer, settings: Any) -> Iterator[RunningSandbox]:
    """A sandbox that knows the product where it runs now, and the product set up to speak to it."""
    config = SandboxConfig.read({}, redirect_uris=(f"{live_server.url}/connect/callback",))
    settings.PUBLIC_URL = live_server.url
    with open_sandbox(config) as sandbox:
        for name, value in sandbox.variables.items():
            setattr(settings, name, value)
        yield sandbox


@pytest.fixture(scope="session")
def _django_beside_the_browser() -> Iterator[None]:
    """The browser's driver runs an event loop in this thread, beside which Django would refuse database work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield
