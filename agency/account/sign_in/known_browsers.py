"""Browsers that have signed in to an account before, which other people's wrong guesses must not lock out.

A signed cookie holds a random id for each of a few accounts. The id has its own attempt limit and grants no access.
"""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

# Browsers keep no cookie longer than this.
KEPT = timedelta(days=400)
MOST_ACCOUNTS = 5
SALT = "agency.account.sign_in.known_browsers"


def browser_id(request: HttpRequest, account: str) -> str | None:
    """Return the id under which this browser is known for an account (given as its digest), or None."""
    known = _accounts(request)
    return next((known[mark] for mark in _marks(account) if mark in known), None)


def remember_browser(request: HttpRequest, response: HttpResponseBase, account: str) -> None:
    """Remember this browser for an account that has just signed in with it."""
    known = _accounts(request)
    marks = _marks(account)
    found = [known.pop(mark) for mark in marks if mark in known]
    known[marks[0]] = found[0] if found else secrets.token_urlsafe(12)
    latest = dict(list(known.items())[-MOST_ACCOUNTS:])
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE_NAME,
        signing.dumps(latest, salt=SALT),
        max_age=KEPT,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _marks(account: str) -> list[str]:
    """Return the names of an account in the cookie, from which a reader cannot guess the e-mail address.

    The first name is made with the present `SECRET_KEY`, the others with earlier keys.
    """
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [salted_hmac(SALT, account, secret=key).hexdigest()[:24] for key in keys]


def _accounts(request: HttpRequest) -> dict[str, str]:
    try:
        found: dict[str, str] = signing.loads(
            request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, ""), salt=SALT, max_age=KEPT
        )
    except signing.BadSignature:
        return {}
    return found
