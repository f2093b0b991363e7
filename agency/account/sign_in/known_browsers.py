"""Browsers in which an account has signed in before: other people's wrong guesses do not shut them out.

A signed cookie names, for a few accounts, an id that has a limit of its own. It opens nothing.
"""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

# The longest that browsers keep a cookie.
KEPT = timedelta(days=400)
MOST_ACCOUNTS = 5
SALT = "agency.account.sign_in.known_browsers"


def browser_id(request: HttpRequest, account: str) -> str | None:
    """Give the id under which this browser is known for an account (its digest); None for a stranger's."""
    known = _accounts(request)
    return next((known[mark] for mark in _marks(account) if mark in known), None)


def remember_browser(request: HttpRequest, response: HttpResponseBase, account: str) -> None:
    """Make this browser known for an account that has shown its password, or the link in its e-mail."""
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
    """Name an account in a cookie. Nobody who reads the cookie can guess the address from it.

    The first name is made with the present `SECRET_KEY`, the others with earlier ones.
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
