"""A customer at a browser: opens the secret link, presses buttons, comes back from the sandbox's consent screens."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from django.test import Client

from channelconnect.models import ConnectSession
from channelconnect.services.sessions.ending import connect_url
from tests.agency.console.browsers import text
from tests.tenants import an_address
from tools.sandbox import RunningSandbox

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
ACTION = re.compile(r'<form method="post" action="([^"]+)"')


def a_browser() -> Client:
    return Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())


def path_of(url: str) -> str:
    """The part of an address of ours behind the host."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


@dataclass
class Customer:
    sandbox: RunningSandbox
    browser: Client = field(default_factory=a_browser)
    page: Any = None

    def open(self, url: str) -> Any:
        """Open an address of ours and follow it to the page."""
        return self.follow(self.browser.get(path_of(url)))

    def follow(self, answer: Any) -> Any:
        """Go where an answer of ours leads, to the page or until the browser leaves for another site."""
        self.page = answer
        while self.page.status_code in (302, 303) and urlsplit(self.page["Location"]).netloc in ("", "testserver"):
            self.page = self.browser.get(path_of(self.page["Location"]))
        return self.page

    def actions(self) -> list[str]:
        """Where the page's forms lead."""
        return ACTION.findall(self.page.content.decode())

    def press(self, ending: str, **fields: str) -> Any:
        """Press the button whose form leads to an address with this ending; gives the answer itself."""
        action = next(action for action in self.actions() if action.endswith(ending))
        token = TOKEN.search(self.page.content.decode())
        assert token
        return self.browser.post(action, {"csrfmiddlewaretoken": token[1], **fields})

    def press_continue(self) -> str:
        """Press Continue and give the provider's address."""
        answer = self.press("/continue")
        assert answer.status_code == 303, answer.content
        return str(answer["Location"])

    def consent(self, dialog: str, person: str = "ann", **scenario: Any) -> str:
        """Decide at the provider; gives the address that it sends the browser back to."""
        self.sandbox.play(**{"person": person, "decision": "approve", **scenario})
        answer = requests.get(dialog, allow_redirects=False, timeout=60)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"].partition("#")[0]

    def accounts(self) -> list[str]:
        """The ids of the accounts that the page lists."""
        return re.findall(r'name="account" value="([^"]+)"', self.page.content.decode())

    def select(self, external_id: str | None = None) -> Any:
        """Choose an account, by default the first one, and look at what became of it."""
        return self.follow(self.press("/choose", account=external_id or self.accounts()[0]))

    def authorize(self, session: ConnectSession, person: str = "ann", **scenario: Any) -> Any:
        """Walk from the link to where the provider sends the browser back to."""
        self.open(link_of(session))
        return self.open(self.consent(self.press_continue(), person, **scenario))

    def connect(self, session: ConnectSession, person: str = "ann", **scenario: Any) -> Any:
        """Walk the whole way with the first account."""
        self.authorize(session, person, **scenario)
        return self.select()

    @property
    def shown_text(self) -> str:
        return text(self.page)

    @property
    def return_link(self) -> str | None:
        """Where the browser leaves for, or the page's last button leads."""
        if self.page.status_code == 303:
            return str(self.page["Location"])
        found = re.search(r'<a class="button primary full" href="([^"]+)"', self.page.content.decode())
        return found[1].replace("&amp;", "&") if found else None


def link_of(session: ConnectSession) -> str:
    url = connect_url(ConnectSession.objects.get(pk=session.pk), now=session.created_at)
    assert url
    return url


def state_in(dialog: str) -> str:
    return parse_qs(urlsplit(dialog).query)["state"][0]


def outcome(session: ConnectSession) -> tuple[str, str | None]:
    session.refresh_from_db()
    return session.status, session.error_code
