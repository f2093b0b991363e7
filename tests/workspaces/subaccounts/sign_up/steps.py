"""What a new customer does: opens the page, fills it in, looks at the mail, presses the button."""

import re
import secrets
from typing import Any

from django.core import mail as outbox
from django.test import Client

from agency.actors import SYSTEM
from agency.models import Agency, User
from agency.pages.forms import new_nonce
from agency.services import change_sign_up
from agency.tasks import send_mail
from config.serving.middleware import HOST_AGENCY
from tests.factories import DomainFactory, PlanFactory
from tests.tenants import HANDLER, an_address

PAGE, SENT, CONFIRM = "/sign-up", "/sign-up/sent", "/sign-up/confirm"
PASSWORD = "correct-horse-battery"
# Of this process alone: what others count against it is not counted here.
EMAIL = f"ada-{secrets.token_hex(4)}@flowers.example"
NEWCOMER = {
    "name": "Ada Brandt",
    "business": "Ada's Flowers",
    "email": EMAIL.upper(),
    "password": PASSWORD,
    "business_type": "retail_ecommerce",
    "timezone": "Europe/Berlin",
}


def open_sign_up(agency: Agency, **settings: Any) -> str:
    """Let customers sign up at an agency with a plan as its default; gives its host."""
    plan = PlanFactory.create(agency=agency, name="Starter")
    change_sign_up(agency=agency, plan=plan, by=SYSTEM, **{"is_on": True, **settings})
    return str(DomainFactory.create(agency=agency).host)


def a_visitor(host: str) -> Client:
    """A browser on a host, at an address of its own."""
    browser = Client(REMOTE_ADDR=an_address(), HTTP_HOST=host)
    browser.handler = HANDLER
    return browser


def signed_in_at(agency: Agency, user: User) -> Client:
    """A browser on the agency's host in which a person has signed in."""
    browser = a_visitor(agency.domains.get().host)
    browser.force_login(user)
    session = browser.session
    session[HOST_AGENCY] = agency.pk
    session.save()
    return browser


def sign_up(browser: Client, **fields: Any) -> Any:
    """Send the form of the page, filled in."""
    return browser.post(PAGE, {**NEWCOMER, "nonce": new_nonce(0), **fields})


def mails() -> list[Any]:
    """What goes out now."""
    outbox.outbox.clear()
    send_mail()
    return list(outbox.outbox)


def the_link(host: str) -> str:
    """The path of the link in the one e-mail that goes out now."""
    (sent,) = mails()
    found = re.search(rf"http://{re.escape(host)}(/sign-up/confirm/\S+)", str(sent.body))
    assert found, sent.body
    return found[1]


def press(browser: Client, link: str, **fields: Any) -> Any:
    """Open the link and press the button on the page that it leads to."""
    opened = browser.get(link)
    assert opened["Location"] == CONFIRM, opened.content
    return browser.post(CONFIRM, fields)
