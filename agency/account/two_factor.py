"""Pages to set up two-factor, make new recovery codes and switch it off; each asks for the password once more."""

from typing import Any, ClassVar

import pyotp
import segno
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.account.forms import CodeForm, PasswordAndCodeForm, PasswordForm
from agency.account.profile import OwnPage
from agency.account.sign_in.attempt_limits import PASSWORD_CHANGES, allow_codes, code_wait
from agency.account.sign_in.signing_in import has_shown_password, local_path, remember_password_shown
from agency.models import TwoFactor
from agency.pages.branding.host import host_agency
from agency.pages.forms.forms import Confirmation
from agency.pages.second_factor import CODE_SHOWN
from agency.request_actor import user_actor
from agency.services.people.two_factor import (
    SetUpIsOver,
    TwoFactorIsOn,
    begin_two_factor,
    begun_two_factor_of,
    confirm_two_factor,
    has_two_factor,
    replace_recovery_codes,
    switch_two_factor_off,
)
from config.db import database_now

SECURITY = "account:security"
# Session keys: the two-factor key that this browser is setting up, which no other browser is shown, and the page to
# open afterwards.
SET_UP, THEN = "two_factor_set_up", "two_factor_then"


class BeginTwoFactor(OwnPage):
    """Asks for the password, unless it was just shown, then makes a key."""

    template_name = "account/security/begin.html"
    landing_page = nav = SECURITY

    def get(self, request: HttpRequest) -> HttpResponse:
        return redirect(SECURITY) if has_two_factor(self.user) else super().get(request)

    def wait(self) -> int:
        return 0 if has_shown_password(self.request) else PASSWORD_CHANGES.count(str(self.user.pk))

    def make_form(self, data: Any = None) -> forms.BaseForm:
        return Confirmation(data) if has_shown_password(self.request) else PasswordForm(self.user, data)

    def save(self, form: forms.BaseForm) -> HttpResponse:
        if "password" in form.fields:
            PASSWORD_CHANGES.reset(str(self.user.pk))
            remember_password_shown(self.request)
        begun = begin_two_factor(user=self.user, now=database_now())
        self.request.session[SET_UP] = begun.pk
        self.request.session[THEN] = local_path(self.request.POST.get("next", ""))
        return redirect("account:two-factor-set-up")

    def context(self) -> dict[str, Any]:
        return {"next": self.request.POST.get("next") or self.request.GET.get("next", "")}


class SetUpTwoFactor(OwnPage):
    """Shows the key as a QR code and as text until a first code is right, then the recovery codes, once."""

    template_name = "account/security/set_up.html"
    landing_page = nav = SECURITY
    begun: TwoFactor

    def prepare_page(self) -> None:
        """Find the key that this browser is setting up. Raises `TwoFactorIsOn`, `SetUpIsOver`."""
        begun = begun_two_factor_of(self.user, now=database_now())
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
        return code_wait(self.request, self.user, now=database_now())

    def make_form(self, data: Any = None) -> CodeForm:
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
        allow_codes(self.request, self.user)
        session.pop(SET_UP, None)
        session[CODE_SHOWN] = True
        session.cycle_key()
        return show_codes(self.request, codes, then=session.pop(THEN, ""))

    def context(self) -> dict[str, Any]:
        secret = self.begun.secret or ""
        address = pyotp.TOTP(secret).provisioning_uri(name=self.user.email, issuer_name=issuer_of(self.request))
        picture = segno.make_qr(address, error="m").svg_data_uri(scale=5, dark="#000", light="#fff")
        groups = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
        return {"address": address, "picture": picture, "secret": groups}


class PasswordAndCodePage(OwnPage):
    """A page that acts once a person has shown password and code; without two-factor it redirects."""

    landing_page = nav = SECURITY
    template_name = "account/security/confirm.html"
    words: ClassVar[str]

    def get(self, request: HttpRequest) -> HttpResponse:
        return super().get(request) if has_two_factor(self.user) else redirect(SECURITY)

    def wait(self) -> int:
        return PASSWORD_CHANGES.count(str(self.user.pk)) or code_wait(self.request, self.user, now=database_now())

    def make_form(self, data: Any = None) -> PasswordAndCodeForm:
        return PasswordAndCodeForm(self.user, data)

    def give_attempts_back(self) -> None:
        PASSWORD_CHANGES.reset(str(self.user.pk))
        allow_codes(self.request, self.user)

    def context(self) -> dict[str, Any]:
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
        return self.done(_("Two-factor is off. Everywhere else you are signed out."), SECURITY)


def show_codes(request: HttpRequest, codes: list[str], *, then: str) -> HttpResponse:
    """Show recovery codes in the response itself, as no page can show them a second time."""
    context = {"codes": codes, "file": "\r\n".join(codes), "then": then or reverse(SECURITY)}
    return render(request, "account/security/recovery_codes.html", context)


def issuer_of(request: HttpRequest) -> str:
    """Return the issuer that the person's app shows: the agency on its own host, else a neutral name."""
    agency = host_agency(request)
    name = agency.name if agency else settings.TWO_FACTOR_ISSUER
    return name.replace(":", " ")
