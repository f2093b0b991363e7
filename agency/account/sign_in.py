"""Signs people in, limits the attempts, and finds the landing page.

This is the only way to sign somebody in: a person who uses two-factor must show a code, whatever they have shown
before.
"""

import hashlib
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import cast

from django.contrib.auth import SESSION_KEY, login
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import ngettext

from agency.account.sessions import SIGN_IN, SignInFacts, describe_browser, known_browser_id, remember_known_browser
from agency.models import Mail, User
from agency.pages.branding import host_agency, host_agency_id
from agency.pages.registry import LandingPage, in_order, landing_pages
from agency.pages.views import CODE_SHOWN
from agency.services.mail.queue import queue_mail
from agency.services.members import remember_landing
from agency.services.two_factor import MOST_ATTEMPTS_OF_ALL, count_attempt, has_two_factor
from config.api.requests import client_address, rate_limit_bucket
from config.api.throttling import SCRIPT
from config.db import database_now
from config.redis import RedisUnavailable, call_redis


def landing_page_of(user: User, agency_id: int | None) -> str:
    """Return the landing page, with `agency_id` among that agency's; without any, the page of invitations."""
    place = _landing_of(user, agency_id)
    return reverse(place.url_name) if place else reverse("account:invitations")


def pin_landing_page(user: User) -> None:
    """Fix the landing page of a person who has chosen none, so that a new membership does not change it."""
    place = None if user.landing else _landing_of(user, None)
    if place:
        remember_landing(user=user, landing=place.name)


def _landing_of(user: User, agency_id: int | None) -> LandingPage | None:
    open_ones = [place for place in in_order(landing_pages) if place.is_open(user, agency_id)]
    chosen = (place for place in open_ones if place.name == user.landing)
    return next(chosen, open_ones[0] if open_ones else None)


WINDOW_SECONDS = 15 * 60


def too_many_tries(seconds: int) -> str:
    """Write how long to wait, in minutes that have begun."""
    minutes = -(-seconds // 60)
    text = ngettext("Too many tries. Wait %(minutes)s minute.", "Too many tries. Wait %(minutes)s minutes.", minutes)
    return text % {"minutes": minutes}


def too_many_sign_ins(seconds: int) -> str:
    """Write how long to wait where a new password can be set meanwhile."""
    minutes = -(-seconds // 60)
    text = ngettext(
        "Too many tries. Wait %(minutes)s minute, or set a new password.",
        "Too many tries. Wait %(minutes)s minutes, or set a new password.",
        minutes,
    )
    return text % {"minutes": minutes}


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `size` attempts in fifteen minutes for one network address or account."""

    name: str
    size: int

    def key(self, whose: str) -> str:
        """Return the counter's name, which holds an account only as a digest."""
        return f"limit:{self.name}:{whose}"

    def count(self, whose: str) -> int:
        """Count one attempt; return the seconds to wait if it is over the limit, else 0."""
        arguments = (1, self.key(whose), self.size, WINDOW_SECONDS * 1000)
        try:
            _, milliseconds = cast("list[int]", call_redis(lambda redis: redis.eval(SCRIPT, *arguments)))
        except RedisUnavailable:
            return 0
        return -(-milliseconds // 1000)

    def reset(self, whose: str) -> None:
        """Reset the count of an account whose person has proved who they are."""
        try:
            call_redis(lambda redis: redis.delete(self.key(whose)))
        except RedisUnavailable:
            return


# Attempts on one account have a tight limit for each network address and a looser limit over all addresses. One address
# cannot lock the account out, and many addresses together cannot guess for long. A browser that has signed in to the
# account before has its own limit instead, which nobody else can use up.
SIGN_INS_FROM_ADDRESS = AttemptLimit("sign-in-from", 100)
SIGN_INS_TO_ACCOUNT_FROM_ADDRESS = AttemptLimit("sign-in-to-from", 10)
SIGN_INS_TO_ACCOUNT = AttemptLimit("sign-in-to", 100)
SIGN_INS_OF_KNOWN_BROWSER = AttemptLimit("sign-in-of", 10)
CODES_TO_ACCOUNT_FROM_ADDRESS = AttemptLimit("code-to-from", 10)
CODES_OF_KNOWN_BROWSER = AttemptLimit("code-of", 10)
PASSWORD_CHANGES = AttemptLimit("password-change", 10)
RESETS_FROM_ADDRESS = AttemptLimit("reset-from", 20)
RESETS_OF_ACCOUNT_FROM_ADDRESS = AttemptLimit("reset-of-from", 3)
RESETS_OF_ACCOUNT = AttemptLimit("reset-of", 12)
RESETS_OF_KNOWN_BROWSER = AttemptLimit("reset-by", 3)
SIGN_UPS_FROM_ADDRESS = AttemptLimit("sign-up-from", 20)
SIGN_UPS_OF_ACCOUNT_FROM_ADDRESS = AttemptLimit("sign-up-of-from", 3)
SIGN_UPS_OF_ACCOUNT = AttemptLimit("sign-up-of", 12)
SIGN_UP_FORMS = AttemptLimit("sign-up-form", 1)
SIGN_UP_PASSWORDS = AttemptLimit("sign-up-password", 10)
NEW_WORKSPACES = AttemptLimit("new-workspace", 10)


def address_bucket(request: HttpRequest) -> str:
    return rate_limit_bucket(client_address(request))


def account_digest(email: str) -> str:
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()


def throttle_sign_in(request: HttpRequest, email: str) -> int:
    """Count a sign-in attempt; return the seconds to wait if it is over a limit, else 0.

    An attempt that a tighter limit refuses does not count against a looser limit.
    """
    account, address = account_digest(email), address_bucket(request)
    known = known_browser_id(request, account)
    if known:
        return SIGN_INS_OF_KNOWN_BROWSER.count(known)
    return (
        SIGN_INS_FROM_ADDRESS.count(address)
        or SIGN_INS_TO_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address}")
        or SIGN_INS_TO_ACCOUNT.count(account)
    )


def reset_sign_in_throttle(request: HttpRequest, email: str) -> None:
    """Reset the attempts of a person who has shown the password, or the link in an e-mail."""
    account = account_digest(email)
    SIGN_INS_TO_ACCOUNT_FROM_ADDRESS.reset(f"{account}:{address_bucket(request)}")
    known = known_browser_id(request, account)
    if known:
        SIGN_INS_OF_KNOWN_BROWSER.reset(known)


def throttle_code(request: HttpRequest, user: User, *, now: datetime) -> int:
    """Count an attempt at a person's code; return the seconds to wait if it is over a limit, else 0.

    The database counts all attempts on the account as well, also while Redis is away. Unknown browsers may use half of
    them. Browsers that the account has signed in with may use the rest.
    """
    account = account_digest(user.email)
    known = known_browser_id(request, account)
    if known:
        return CODES_OF_KNOWN_BROWSER.count(known) or count_attempt(user=user, now=now, most=MOST_ATTEMPTS_OF_ALL)
    tight = CODES_TO_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address_bucket(request)}")
    return tight or count_attempt(user=user, now=now)


def reset_code_throttle(request: HttpRequest, user: User) -> None:
    """Reset the attempts of a person who has shown a right code."""
    account = account_digest(user.email)
    CODES_TO_ACCOUNT_FROM_ADDRESS.reset(f"{account}:{address_bucket(request)}")
    known = known_browser_id(request, account)
    if known:
        CODES_OF_KNOWN_BROWSER.reset(known)


def throttle_password_link(request: HttpRequest, email: str) -> bool:
    """Count a request for a password link; return False if there were too many for the account."""
    account, address = account_digest(email), address_bucket(request)
    known = known_browser_id(request, account)
    if known:
        return not RESETS_OF_KNOWN_BROWSER.count(known)
    tight = RESETS_OF_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address}")
    return not (tight or RESETS_OF_ACCOUNT.count(account))


def throttle_sign_up(request: HttpRequest, email: str) -> bool:
    """Count a sign-up with this e-mail address; return False if there were too many."""
    account, address = account_digest(email), address_bucket(request)
    tight = SIGN_UPS_OF_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address}")
    return not (tight or SIGN_UPS_OF_ACCOUNT.count(account))


PENDING = "pending_sign_in"
PENDING_LASTS = timedelta(minutes=5)
# Session key: the person has signed in on the support admin's own page.
SIGNED_IN_TO_SUPPORT = "signed_in_to_support"
PASSWORD_SHOWN_AT = "password_shown_at"  # noqa: S105 - a name in the session
RECENT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A person who has shown their password but not yet their code, and is not signed in.

    It is valid for five minutes, on the same agency's host, and until the password changes.
    """

    user: int
    password: str
    until: str
    agency: int | None
    to: str
    is_to_support: bool


def sign_in(request: HttpRequest, user: User, *, to: str = "", is_to_support: bool = False) -> HttpResponse:
    """Sign in a person who has just shown or set their password; return the response.

    It redirects to `to` (empty: the landing page), or to the page that asks for the code. Until the code is shown,
    `request.user` is anonymous.
    """
    if not has_two_factor(user):
        response = complete_sign_in(request, user, to=to, is_to_support=is_to_support, has_shown_code=False)
        request.session.save()  # from here on, switching two-factor on ends this session too
        if not has_two_factor(user):
            return response
    if SESSION_KEY in request.session:
        request.session.flush()
        request.user = AnonymousUser()
    pending = PendingSignIn(
        user=user.pk,
        password=user.get_session_auth_hash(),
        until=(database_now() + PENDING_LASTS).isoformat(),
        agency=host_agency_id(request),
        to=to,
        is_to_support=is_to_support,
    )
    request.session[PENDING] = asdict(pending)
    return redirect("account:code")


def pending_sign_in(request: HttpRequest, *, now: datetime) -> tuple[User, PendingSignIn] | None:
    """Return the person who must show a code in this browser, with their pending sign-in, while that is valid."""
    stored = request.session.get(PENDING)
    if stored is None:
        return None
    pending = PendingSignIn(**stored)
    if now > datetime.fromisoformat(pending.until) or pending.agency != host_agency_id(request):
        return None
    user = User.objects.filter(pk=pending.user, is_active=True).first()
    if user is None or not _is_password_of(user, pending.password):
        return None
    return user, pending


def _is_password_of(user: User, shown: str) -> bool:
    """Return whether the shown password is still the person's; its hash may come from an earlier `SECRET_KEY`."""
    marks = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(shown, mark) for mark in marks)


def complete_sign_in(
    request: HttpRequest, user: User, *, to: str, is_to_support: bool, has_shown_code: bool
) -> HttpResponse:
    """Sign in a person who has shown everything that is required. Only `sign_in` and the code page call this."""
    account = account_digest(user.email)
    is_new_place = user.last_login is not None and known_browser_id(request, account) is None
    was_signed_in = SESSION_KEY in request.session
    login(request, user)
    facts = _facts(request)
    marks: dict[str, object] = {SIGN_IN: facts, CODE_SHOWN: has_shown_code}
    if is_to_support:
        marks[SIGNED_IN_TO_SUPPORT] = True
    request.session.update(marks)
    request.session.pop(PENDING, None)
    remember_password_shown(request)
    if was_signed_in:
        request.session.cycle_key()
    if is_new_place:
        told = {"browser": facts["browser"], "address": facts["address"]}
        queue_mail(kind=Mail.Kind.NEW_SIGN_IN, user=user, context=told, agency=host_agency(request))
    response = redirect(to or landing_page_of(user, host_agency_id(request)))
    remember_known_browser(request, response, account)
    return response


def remember_password_shown(request: HttpRequest) -> None:
    """Record that the person has just shown their password, so that pages do not ask for it for ten minutes."""
    request.session[PASSWORD_SHOWN_AT] = timezone.now().isoformat()


def has_shown_password(request: HttpRequest) -> bool:
    shown: str | None = request.session.get(PASSWORD_SHOWN_AT)
    return shown is not None and datetime.fromisoformat(shown) > timezone.now() - RECENT


def local_path(asked: str) -> str:
    """Return the address if it is a local path, else an empty string."""
    is_ours = asked.startswith("/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if is_ours else ""


def _facts(request: HttpRequest) -> SignInFacts:
    return {
        "at": timezone.now().isoformat(),
        "address": str(client_address(request) or ""),
        "browser": describe_browser(request.headers.get("User-Agent", "")),
        "agency": host_agency_id(request),
    }
