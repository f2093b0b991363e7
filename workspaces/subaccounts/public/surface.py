"""Shared code of the sign-up pages: the host's agency, the error pages, the cookie of the browser that signed up."""

from typing import Any
from uuid import UUID

from django.conf import settings as configuration
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from agency.models import Agency
from agency.pages.branding import host_agency
from config.api.requests import parse_uuid
from config.errors import DomainError
from workspaces.subaccounts.services import SubAccountLimitReached
from workspaces.subaccounts.services.people.signing_up import (
    CONFIRMED_WITHIN,
    AddressKnown,
    SignUpConfirmed,
    SignUpEnded,
    SignUpIsOff,
)

SALT = "workspaces.subaccounts.sign_up"
# The template and the status that answer each error.
REFUSALS: dict[type[DomainError], tuple[str, int]] = {
    SubAccountLimitReached: ("sign_up/full.html", 403),
    SignUpIsOff: ("sign_up/closed.html", 403),
    SignUpConfirmed: ("sign_up/confirmed.html", 410),
    SignUpEnded: ("sign_up/ended.html", 410),
    AddressKnown: ("sign_up/known.html", 409),
}


@method_decorator([never_cache, sensitive_post_parameters("password")], name="dispatch")
class SignUpView(View):
    """A page on an agency's host. On any other host it answers 404."""

    http_method_names = ["get", "head", "post"]
    agency: Agency

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.agency = agency_of(request)
        try:
            return self.enter(request) or super().dispatch(request, *args, **kwargs)
        except tuple(REFUSALS) as refusal:
            return refuse(request, self.agency, refusal)

    def enter(self, request: HttpRequest) -> HttpResponseBase | None:
        """Answer a visitor who may not see the page; None lets them in. Pages override this."""
        return None


def agency_of(request: HttpRequest) -> Agency:
    """Give the agency of the request's host. Raises `Http404` on the installation's own host."""
    agency = host_agency(request)
    if agency is None:
        raise Http404
    return agency


def refuse(request: HttpRequest, agency: Agency, refusal: DomainError) -> HttpResponse:
    template, status = REFUSALS[type(refusal)]
    return render(request, template, {"agency": agency}, status=status)


def remember_sign_up(response: HttpResponseBase, sign_up: UUID) -> None:
    """Set a cookie that marks this browser as the one that signed up, for as long as the link works."""
    response.set_cookie(
        configuration.SIGN_UP_COOKIE_NAME,
        signing.dumps(str(sign_up), salt=SALT),
        max_age=CONFIRMED_WITHIN,
        secure=configuration.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def sign_up_of_browser(request: HttpRequest) -> UUID | None:
    """Give the uuid of the sign-up that began in this browser, from its cookie."""
    cookie = request.COOKIES.get(configuration.SIGN_UP_COOKIE_NAME, "")
    try:
        return parse_uuid(signing.loads(cookie, salt=SALT, max_age=CONFIRMED_WITHIN))
    except signing.BadSignature:
        return None
