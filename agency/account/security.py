"""A person's account security: two-factor, and the browsers in which they are signed in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from agency.account.sign_in.landing import landing_page_of
from agency.account.user_agents import UNKNOWN
from agency.models import User, UserSession
from agency.pages.branding.host import host_agency_id
from agency.pages.signed_in import SignedInView, person_of
from agency.request_actor import user_actor
from agency.services.people.recovery_codes import codes_left
from agency.services.people.sessions import end_other_sessions, end_session
from agency.services.people.two_factor import two_factor_of

SECURITY = "account:security"
SALT = "agency.account.security"
MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session as its owner sees it; `id` identifies it without revealing its key."""

    id: str
    browser: str
    address: str
    place: str
    signed_in_at: datetime | None
    last_seen_at: datetime
    is_current: bool


class Security(SignedInView):
    landing_page = SECURITY

    def get(self, request: HttpRequest) -> HttpResponse:
        user = person_of(request)
        held = two_factor_of(user)
        context: dict[str, Any] = {
            "user": user,
            "two_factor": held,
            "codes_left": codes_left(user) if held else 0,
            "sessions": _shown(request, user),
            "back": landing_page_of(user, host_agency_id(request)),
        }
        return render(request, "account/security/overview.html", context)


class EndSession(SignedInView):
    """Signs the person out of one browser at once."""

    landing_page = form_page = nav = SECURITY

    def post(self, request: HttpRequest) -> HttpResponse:
        user = person_of(request)
        asked = request.POST.get("session", "")
        row = next((row for row in _sessions_of(user) if constant_time_compare(_id(row), asked)), None)
        if row is None:
            return self.done(_("That session had ended already."), SECURITY)
        if row.session_key == request.session.session_key:
            logout(request)
            return redirect("account:sign-in")
        end_session(user=user, key=row.session_key, by=user_actor(request, user))
        return self.done(_("That browser is signed out."), SECURITY)


class EndOtherSessions(SignedInView):
    landing_page = form_page = nav = SECURITY

    def post(self, request: HttpRequest) -> HttpResponse:
        user = person_of(request)
        end_other_sessions(user=user, keep=request.session.session_key or "", by=user_actor(request, user))
        return self.done(_("You are signed out everywhere else."), SECURITY)


def _sessions_of(user: User) -> list[UserSession]:
    """Return a person's live sessions, the most recently used first, at most fifty."""
    live = UserSession.objects.filter(user=user, expire_date__gt=timezone.now()).select_related("agency")
    return list(live.order_by("-last_seen_at")[:MOST_SHOWN])


def _shown(request: HttpRequest, user: User) -> list[ShownSession]:
    """Return the sessions that the page shows, this browser's first."""
    shown = [
        ShownSession(
            id=_id(row),
            browser=row.browser or UNKNOWN,
            address=row.address,
            place=_place(request, row),
            signed_in_at=row.signed_in_at,
            last_seen_at=row.last_seen_at,
            is_current=row.session_key == request.session.session_key,
        )
        for row in _sessions_of(user)
    ]
    return sorted(shown, key=lambda one: not one.is_current)


def _place(request: HttpRequest, row: UserSession) -> str:
    """Name the agency on whose host the session began; on an agency's own host, name no other agency."""
    here = host_agency_id(request)
    if here is not None and row.agency_id != here:
        return _("Another address")
    return row.agency.name if row.agency else ""


def _id(row: UserSession) -> str:
    return salted_hmac(SALT, row.session_key, algorithm="sha256").hexdigest()[:32]
