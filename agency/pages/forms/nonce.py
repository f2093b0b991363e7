"""The nonce in every form: signed for one person, it counts a form that makes something once.

It also says for whom a form was shown, without which nothing that came in after the end of a session is kept.
"""

import secrets
from dataclasses import dataclass

from django.core import signing
from django.http import HttpRequest

from agency.services.sent_forms import FORMS_LAST

FIELD = "nonce"
# In the address of a page whose form makes something, so that the browser's Back comes back to the same form.
PARAMETER = "form"
SALT = "agency.pages.forms.nonce"


@dataclass(frozen=True, slots=True)
class FormNonce:
    """A nonce that we have signed: for which person, and its random part."""

    user: int
    value: str


def new_nonce(user: int) -> str:
    """Give a nonce for a form that is about to be shown to this person."""
    return signing.dumps([user, secrets.token_urlsafe(12)], salt=SALT)


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
