"""A person's account security: two-factor with its recovery codes, and the browsers in which they are signed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import pyotp
import segno
from django import forms
from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from agency.account.forms import CodeForm, PasswordAndCodeForm, PasswordForm
from agency.account.profile import AccountFormView
from agency.account.sign_in import (
    PASSWORD_CHANGES,
    has_shown_password,
    landing_page_of,
    local_path,
    remember_password_shown,
    reset_code_throttle,
    throttle_code,
)
from agency.models import TwoFactor, User, UserSession
from agency.pages.branding import host_agency, host_agency_id
from agency.pages.forms import ConfirmationForm
from agency.pages.views import CODE_SHOWN, SignedInView, person_of
from agency.request_actor import user_actor
from agency.services.passwords import end_other_sessions, end_session
from agency.services.two_factor import (
    SetUpIsOver,
    TwoFactorIsOn,
    begin_two_factor,
    codes_left,
    confirm_two_factor,
    has_two_factor,
    pending_two_factor_of,
    replace_recovery_codes,
    switch_two_factor_off,
    two_factor_of,
)
from config.db import database_now

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
        context: dict[str, object] = {
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
            return self.done(_("That session has already ended."), SECURITY)
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
            browser=row.browser,
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


# Session keys: the two-factor key that this browser is setting up, which no other browser is shown, and the page to
# open afterwards.
SET_UP, THEN = "two_factor_set_up", "two_factor_then"


class BeginTwoFactor(AccountFormView):
    """Asks for the password, unless it was just shown, then makes a key."""

    template_name = "account/security/begin.html"
    landing_page = nav = SECURITY

    def get(self, request: HttpRequest) -> HttpResponse:
        return redirect(SECURITY) if has_two_factor(self.user) else super().get(request)

    def wait(self) -> int:
        return 0 if has_shown_password(self.request) else PASSWORD_CHANGES.count(str(self.user.pk))

    def make_form(self, data: Mapping[str, object] | None = None) -> forms.BaseForm:
        return ConfirmationForm(data) if has_shown_password(self.request) else PasswordForm(self.user, data)

    def save(self, form: forms.BaseForm) -> HttpResponse:
        if "password" in form.fields:
            PASSWORD_CHANGES.reset(str(self.user.pk))
            remember_password_shown(self.request)
        begun = begin_two_factor(user=self.user, now=database_now())
        self.request.session[SET_UP] = begun.pk
        self.request.session[THEN] = local_path(self.request.POST.get("next", ""))
        return redirect("account:two-factor-set-up")

    def context(self) -> dict[str, object]:
        return {"next": self.request.POST.get("next") or self.request.GET.get("next", "")}


class SetUpTwoFactor(AccountFormView):
    """Shows the key as a QR code and as text until a first code is right, then the recovery codes, once."""

    template_name = "account/security/set_up.html"
    landing_page = nav = SECURITY
    begun: TwoFactor

    def prepare_page(self) -> None:
        """Find the key that this browser is setting up. Raises `TwoFactorIsOn`, `SetUpIsOver`."""
        begun = pending_two_factor_of(self.user, now=database_now())
        if begun is None and has_two_factor(self.user):
            raise TwoFactorIsOn
        if begun is None or begun.pk != self.request.session.get(SET_UP):
            raise SetUpIsOver
        self.begun = begun

    def get(self, request: HttpRequest) -> HttpResponse:
        self.prepare_page()
        return super().get(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        self.prepare_page()
        return super().post(request)

    def wait(self) -> int:
        return throttle_code(self.request, self.user, now=database_now())

    def make_form(self, data: Mapping[str, object] | None = None) -> CodeForm:
        return CodeForm(data)

    def save(self, form: forms.BaseForm) -> HttpResponse:
        session = self.request.session
        codes = confirm_two_factor(
            user=self.user,
            code=form.cleaned_data["code"],
            now=database_now(),
            keep=session.session_key,
            by=user_actor(self.request, self.user),
            agency=host_agency(self.request),
        )
        reset_code_throttle(self.request, self.user)
        session.pop(SET_UP, None)
        session[CODE_SHOWN] = True
        session.cycle_key()
        return show_codes(self.request, codes, then=session.pop(THEN, ""))

    def context(self) -> dict[str, object]:
        secret = self.begun.secret or ""
        address = pyotp.TOTP(secret).provisioning_uri(name=self.user.email, issuer_name=issuer_of(self.request))
        picture = segno.make_qr(address, error="m").svg_data_uri(scale=5, dark="#000", light="#fff")
        groups = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
        return {"address": address, "picture": picture, "secret": groups}


class PasswordAndCodePage(AccountFormView):
    """A page that acts once a person has shown password and code; without two-factor it redirects."""

    landing_page = nav = SECURITY
    template_name = "account/security/confirm.html"
    words: ClassVar[str]

    def get(self, request: HttpRequest) -> HttpResponse:
        return super().get(request) if has_two_factor(self.user) else redirect(SECURITY)

    def wait(self) -> int:
        return PASSWORD_CHANGES.count(str(self.user.pk)) or throttle_code(self.request, self.user, now=database_now())

    def make_form(self, data: Mapping[str, object] | None = None) -> PasswordAndCodeForm:
        return PasswordAndCodeForm(self.user, data)

    def give_attempts_back(self) -> None:
        PASSWORD_CHANGES.reset(str(self.user.pk))
        reset_code_throttle(self.request, self.user)

    def context(self) -> dict[str, object]:
        return {"words": self.words}


class NewRecoveryCodes(PasswordAndCodePage):
    words = "codes"

    def save(self, form: forms.BaseForm) -> HttpResponse:
        codes = replace_recovery_codes(
            user=self.user,
            code=form.cleaned_data["code"],
            now=database_now(),
            by=user_actor(self.request, self.user),
            agency=host_agency(self.request),
        )
        self.give_attempts_back()
        return show_codes(self.request, codes, then="")


class SwitchTwoFactorOff(PasswordAndCodePage):
    words = "off"

    def save(self, form: forms.BaseForm) -> HttpResponse:
        session = self.request.session
        switch_two_factor_off(
            user=self.user,
            code=form.cleaned_data["code"],
            now=database_now(),
            keep=session.session_key,
            by=user_actor(self.request, self.user),
            agency=host_agency(self.request),
        )
        self.give_attempts_back()
        session[CODE_SHOWN] = False
        session.cycle_key()
        return self.done(_("Two-factor is off. You are signed out everywhere else."), SECURITY)


def show_codes(request: HttpRequest, codes: list[str], *, then: str) -> HttpResponse:
    """Show recovery codes in the response itself, as no page can show them a second time."""
    context = {"codes": codes, "file": "\r\n".join(codes), "then": then or reverse(SECURITY)}
    return render(request, "account/security/recovery_codes.html", context)


def issuer_of(request: HttpRequest) -> str:
    """Return the issuer that the person's app shows: the agency on its own host, else a neutral name."""
    agency = host_agency(request)
    name = agency.name if agency else settings.TWO_FACTOR_ISSUER
    return name.replace(":", " ")
