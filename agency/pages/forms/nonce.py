"""The nonce in every form: signed for one person, it makes a form that creates something count once.

It also says for whom a form was shown; without it, data sent after a session's end is not kept. Only its random part
may stand in an address. By that part the browser's Back finds the form that it sent, or the page that refused the form.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from django.core import signing
from django.http import HttpRequest

from agency.services.sent_forms import FORMS_LAST

FIELD = "nonce"
# Query parameter with the random part of a form's nonce, which says nothing and opens nothing.
PARAMETER = "form"
SALT = "agency.pages.forms.nonce"
VALUE = re.compile(r"[A-Za-z0-9_-]{16}")


@dataclass(frozen=True, slots=True)
class FormNonce:
    """A nonce that we have signed: the person's id, and its random part."""

    user: int
    value: str


def new_nonce(user: int, value: str = "") -> str:
    """Return a nonce for a form that is shown to this person; a form that was shown before keeps its value."""
    return signing.dumps([user, value or _new_value()], salt=SALT)


def read_nonce(text: str) -> FormNonce | None:
    """Read a nonce that a form sent; None if we have not signed it or it is too old."""
    try:
        user, value = signing.loads(text, salt=SALT, max_age=FORMS_LAST)
    except signing.BadSignature:
        return None
    return FormNonce(user, value)


def nonce_of(request: HttpRequest, text: str) -> FormNonce | None:
    """Read a nonce of the signed-in person; None for another person's."""
    found = read_nonce(text)
    return found if found and found.user == request.user.pk else None


def value_in(query: Mapping[str, str]) -> str:
    """Return the value that an address names; empty if it names none, or a text that cannot be one."""
    text = query.get(PARAMETER, "")
    return text if VALUE.fullmatch(text) else ""


def sent_value(request: HttpRequest) -> str:
    """Return the value of the sent nonce; empty without a nonce, or for another person's."""
    nonce = read_nonce(request.POST.get(FIELD, "")) if request.method == "POST" else None
    return nonce.value if nonce and nonce.user == (request.user.pk or 0) else ""


def value_of_form(request: HttpRequest) -> str:
    """Return the value of the form that was sent or is requested; a form without a value gets a new one."""
    known: str = getattr(request, "_value_of_form", "")
    if not known:
        known = sent_value(request) or value_in(request.GET) or _new_value()
        request._value_of_form = known  # type: ignore[attr-defined]  # ours alone
    return known


def _new_value() -> str:
    return secrets.token_urlsafe(12)
