"""Opening the inbox as somebody who has signed in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings as project
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.agency.console.browsers import a_browser
from tests.config.serving.web import Web
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox


@dataclass
class Server:
    """The web server, and the network that posts its callbacks to it."""

    web: Web
    network: RunningSandbox

    @property
    def url(self) -> str:
        return f"http://localhost:{self.web.port}"


@contextmanager
def inbox_of(tenant: Tenant, context: BrowserContext, server: Server) -> Iterator[Page]:
    """Open the inbox as the owner, who has signed in; what its pages complain about fails the story."""
    complaints: list[str] = []
    session = a_browser(tenant.workspace.owner).cookies[project.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": server.url}])
    opened = context.new_page()
    opened.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        opened.goto("/app/inbox")
        expect(opened.get_by_role("heading", level=1)).to_have_text("Inbox")
        yield opened
    finally:
        for page in context.pages:
            page.close()
        context.clear_cookies()
    assert complaints == []


class HeldUp:
    """A server that answers nothing of what the page asks it, until it is let go; `answer` is then what it says."""

    def __init__(self, page: Page, address: str = "**/app/inbox/**", **answer: Any) -> None:
        self.answer = answer
        self.waiting: list[Route] = []
        self.is_held = True
        page.route(address, self._hold)

    def _hold(self, route: Route) -> None:
        if self.is_held:
            self.waiting.append(route)
        else:
            self._go_on(route)

    def _go_on(self, route: Route) -> None:
        if self.answer:
            route.fulfill(**self.answer)
        else:
            route.continue_()

    def let_go(self) -> None:
        self.is_held = False
        for one in self.waiting:
            self._go_on(one)
