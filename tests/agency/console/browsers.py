"""Browsers of people at the pages, and what those people read there."""

import html
import re
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.test import Client

from agency.account.sessions import SessionStore
from agency.account.sign_in import SIGN_INS_TO_ACCOUNT, account_digest
from agency.models import Agency, Member, User
from tests.factories import DomainFactory, MemberFactory, UserFactory
from tests.tenants import HANDLER, an_address

PASSWORD = "correct-horse-battery"
LIMITS = ("contacts", "team_members", "broadcasts_per_month")


def a_browser(user: User | None = None) -> Client:
    """A browser at an address of its own; with a person, one who has signed in.

    The session is written once. `force_login` writes an empty one first, exchanges it, and fills the other: that costs
    eleven statements more.
    """
    browser = Client(REMOTE_ADDR=an_address())
    browser.handler = HANDLER
    if user:
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        browser.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    return browser


def a_person(**fields: Any) -> User:
    return UserFactory.create(password=PASSWORD, **fields)


def a_member(agency: Agency, role: str = "admin", **fields: Any) -> Member:
    """A member whose browser can sign in with `PASSWORD`."""
    member = MemberFactory.create(agency=agency, role=role, **fields)
    member.user.set_password(PASSWORD)
    member.user.save(update_fields=["password"])
    return member


def strangers_guess(email: str) -> None:
    """As many wrong guesses at an account, each from a place of its own, as anybody may make."""
    tries = 1
    while not SIGN_INS_TO_ACCOUNT.count(account_digest(email)):
        tries += 1
    assert tries > 90


def at_the_console(agency: Agency, role: str = "admin") -> Client:
    return a_browser(a_member(agency, role).user)


def a_host(agency: Agency) -> str:
    """A domain of the agency's, verified."""
    return DomainFactory.create(agency=agency).host


def signed_in_on(host: str, user: User) -> Client:
    """A browser in which a person has signed in on a host, with `PASSWORD`."""
    browser = a_browser()
    browser.defaults["HTTP_HOST"] = host
    assert browser.post("/account/sign-in", {"email": user.email, "password": PASSWORD}).status_code == 302
    return browser


def text(answer: Any) -> str:
    """What a person reads on a page: without tags, blanks run together."""
    body = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(body).split())


def flashes(answer: Any) -> list[str]:
    """The messages at the top of the page."""
    found = re.findall(r'<p class="flash[^"]*">(.*?)</p>', answer.content.decode(), re.DOTALL)
    return [html.unescape(message) for message in found]


def hidden(answer: Any, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', answer.content.decode())
    assert found, f"no hidden field {name}"
    return found[1]
