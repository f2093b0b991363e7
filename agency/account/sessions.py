"""The session engine, and the browsers in which people have signed in before.

The session's data keep the facts about the sign-in under `SIGN_IN`, so that they survive every change of the
session's key.

Other people's wrong guesses must not lock out a browser that has signed in to an account before. A signed cookie
holds a random id for each of a few accounts. The id has its own attempt limit and grants no access.
"""

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_out
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.core import signing
from django.db.models.functions import Now
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac

from agency.models import UserSession
from agency.services.notifications.devices import move_devices, remove_devices_of_session

SIGN_IN = "sign_in"
SEEN_EVERY = timedelta(minutes=5)


class SignInFacts(TypedDict):
    """The facts of a sign-in: when (ISO 8601), from which network address, in which browser, on which agency's host."""

    at: str
    address: str
    browser: str
    agency: int | None


class SessionStore(DatabaseSessionStore):
    """Stamps a session's last use while reading it, at most once in five minutes."""

    @classmethod
    def get_model_class(cls) -> type[UserSession]:
        return UserSession

    if TYPE_CHECKING:  # missing in the stubs

        def _get_session_from_db(self) -> UserSession | None: ...

    def load(self) -> dict[str, object]:
        row: UserSession | None = self._get_session_from_db()
        if row is None:
            return {}
        if row.user_id and row.last_seen_at < timezone.now() - SEEN_EVERY:
            idle = UserSession.objects.filter(pk=row.pk, last_seen_at__lt=Now() - SEEN_EVERY)
            idle.update(last_seen_at=Now())
        return self.decode(row.session_data)

    def cycle_key(self) -> None:
        """Give the session another key. The alerts on this device stay with it."""
        before = self.session_key
        super().cycle_key()
        if before and self.session_key:
            move_devices(before, self.session_key)

    def create_model_instance(self, data: dict[str, Any]) -> UserSession:
        """Return the row, filled with the person and the sign-in that the data name."""
        row = cast(UserSession, super().create_model_instance(data))
        if SESSION_KEY in data:
            row.user_id = int(data[SESSION_KEY])
        facts: SignInFacts | None = data.get(SIGN_IN)
        if facts and SESSION_KEY in data:
            row.signed_in_at = datetime.fromisoformat(facts["at"])
            row.address, row.browser, row.agency_id = facts["address"], facts["browser"], facts["agency"]
        return row


# What is stored is English; the filter `browser_name` writes it in the reader's language.
UNKNOWN = "Unknown browser"
JOINED_BY = " on "
# The first match counts, as most browsers also claim to be those further down.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def describe_browser(user_agent: str) -> str:
    """Return browser and system, such as `Firefox on Windows`; no text of the request is repeated."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    return JOINED_BY.join(part for part in (browser, system) if part) or UNKNOWN


@receiver(user_logged_out)
def _signed_out(sender: object, request: HttpRequest, **_: object) -> None:
    """Show no alerts any more on the device on which somebody signs out."""
    if request.session.session_key:
        remove_devices_of_session(request.session.session_key)


# Browsers keep no cookie longer than this.
KEPT = timedelta(days=400)
MOST_ACCOUNTS = 5
SALT = "agency.account.sign_in.known_browsers"


def known_browser_id(request: HttpRequest, account: str) -> str | None:
    """Return the id under which this browser is known for an account (given as its digest), or None."""
    known = _accounts(request)
    return next((known[mark] for mark in _marks(account) if mark in known), None)


def remember_known_browser(request: HttpRequest, response: HttpResponseBase, account: str) -> None:
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
