"""The nonce in every form: signed for one person, it counts a form that makes something once.

It also says for whom a form was shown, without which nothing that came in after the end of a session is kept. Only its
random part may stand in an address: so the browser's Back finds the form that it sent, or the page that refused it.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from django.core import signing
from django.http import HttpRequest

from agency.services.sent_forms import FORMS_LAST

FIELD = "nonce"
# In an address it has the random part of a form's nonce, which says nothing and opens nothing.
PARAMETER = "form"
SALT = "agency.pages.forms.nonce"
VALUE = re.compile(r"[A-Za-z0-9_-]{16}")


@dataclass(frozen=True, slots=True)
class FormNonce:
    """A nonce that we have signed: for which person, and its random part."""

    user: int
    value: str


def new_nonce(user: int, value: str = "") -> str:
    """Give a nonce for a form that is about to be shown to this person; a form that was shown before has its value."""
    return signing.dumps([user, value or _new_value()], salt=SALT)


def read_nonce(text: str) -> FormNonce | None:
    """Read what a form sent; None for what we have not signed, or for a form that is too old."""
    try:
        user, value = signing.loads(text, salt=SALT, max_age=FORMS_LAST)
    except signing.BadSignature:
        return None
    return FormNonce(user, value)


def nonce_of(request: HttpRequest, text: str) -> FormNonce | None:
    """Read a nonce of the person who has signed in; another's counts for nothing."""
    found = read_nonce(text)
    return found if found and found.user == request.user.pk else None


def value_in(query: Mapping[str, str]) -> str:
    """Give the value that an address names; empty where it names none, or something that we never gave."""
    text = query.get(PARAMETER, "")
    return text if VALUE.fullmatch(text) else ""


def sent_value(request: HttpRequest) -> str:
    """Give the value of the nonce that was sent; empty without one, or where it is not this person's."""
    nonce = read_nonce(request.POST.get(FIELD, "")) if request.method == "POST" else None
    return nonce.value if nonce and nonce.user == (request.user.pk or 0) else ""


def value_of_form(request: HttpRequest) -> str:
    """Give the value of the form that was sent or is asked for; one without a value is given a new one."""
    known: str = getattr(request, "_value_of_form", "")
    if not known:
        known = sent_value(request) or value_in(request.GET) or _new_value()
        request._value_of_form = known  # type: ignore[attr-defined]  # ours alone
    return known


def _new_value() -> str:
    return secrets.token_urlsafe(12)
