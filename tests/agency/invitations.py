"""People who are invited, and the links in their e-mails."""

import re
from typing import Any

from django.core import mail as outbox
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Invitation
from agency.services import invite_member
from agency.tasks import send_mail

NEW = "a-new-battery-staple"
INVITATIONS = "/account/invitations"


def invited(agency: Agency, email: str, role: str = "admin", name: str = "Nora") -> Invitation:
    return invite_member(agency=agency, email=email, name=name, role=role, now=now(), by=SYSTEM)


def mailed_link() -> str:
    """The path in the newest e-mail that goes out now."""
    outbox.outbox.clear()
    send_mail()
    found = re.search(r"http://testserver(/account/\S+)", str(outbox.outbox[-1].body))
    assert found
    return found[1]


def join(browser: Client, link: str, **fields: str) -> Any:
    """Open the link and fill in the form that it leads to."""
    form = browser.get(link)["Location"]
    browser.get(form)
    return browser.post(form, {"name": "Nora", "new_password1": NEW, "new_password2": NEW, **fields})


def answer(browser: Client, invitation: Invitation, how: str) -> Any:
    return browser.post(f"{INVITATIONS}/{invitation.uuid}/{how}", follow=True)
