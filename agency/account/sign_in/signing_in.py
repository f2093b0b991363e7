"""The only way to sign somebody in: a person who uses two-factor must show a code, whatever they have shown before."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY, login
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme

from agency.account.session_store import SIGN_IN, SignInFacts
from agency.account.sign_in.attempt_limits import account_digest
from agency.account.sign_in.known_browsers import browser_id, remember_browser
from agency.account.sign_in.landing import landing_page_of
from agency.account.user_agents import describe_browser
from agency.models import Mail, User
from agency.pages.branding.host import host_agency, host_agency_id
from agency.pages.second_factor import CODE_SHOWN
from agency.services.mail.queue import queue_mail
from agency.services.people.two_factor import has_two_factor
from config.api.requests import client_address
from config.db import database_now

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
    is_new_place = user.last_login is not None and browser_id(request, account) is None
    was_signed_in = SESSION_KEY in request.session
    login(request, user)
    facts = _facts(request)
    marks: dict[str, Any] = {SIGN_IN: facts, CODE_SHOWN: has_shown_code}
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
    remember_browser(request, response, account)
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
