"""People at their browsers: at the keyboard with scripts, and with a mouse without scripts.

The stories of `tests/flows` use a mouse with scripts.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from agency.models import User
from tests.flows.sessions import give_session
from tests.flows.tasks.keyboard import PersonAtTheKeyboard
from tests.flows.tasks.person import Person, PersonWithoutScripts

# Notes what a script shows or switches on after the page was sent.
NOTE_REVEALED = """
window.revealed = new WeakSet();
new MutationObserver((seen) => {
    for (const { target } of seen) if (!target.hidden && !target.disabled) window.revealed.add(target);
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["hidden", "disabled"] });
"""
WAYS: dict[str, type[Person]] = {"keyboard": PersonAtTheKeyboard, "without JavaScript": PersonWithoutScripts}
SignIn = Callable[..., Person]


BY_KEYBOARD_ONLY = pytest.mark.parametrize("way", [PersonAtTheKeyboard], indirect=True, ids=["keyboard"])


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def way(request: Any) -> type[Person]:
    found: type[Person] = request.param
    return found


@pytest.fixture
def person_at(browser: Browser, live_server: LiveServer, way: type[Person]) -> Iterator[SignIn]:
    """Sit somebody down; what a page complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def sit_down(user: User | None = None, **options: Any) -> Person:
        context = browser.new_context(
            base_url=live_server.url,
            java_script_enabled=way.has_scripts,
            permissions=["clipboard-write"],
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.add_init_script(NOTE_REVEALED)
        if user:
            give_session(context, user, live_server.url)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return way(page, **options)

    yield sit_down
    for context in contexts:
        context.close()
    assert complaints == []
