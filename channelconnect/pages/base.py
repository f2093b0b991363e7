"""The base of the pages for connecting customers: security headers, the browser's cookie, refusals, call limit."""

import re
from datetime import datetime
from functools import cached_property
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views import View

from agency.actors import Actor
from agency.pages.branding import host_agency_id, in_page_language, prefer_language_of, theme_of_agency
from agency.pages.views import ConcurrencyLimit
from agency.request_actor import request_actor
from agency.services import brand_of
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.flow import OtherBrowser, TenantSuspended
from config.db import database_now

COOKIE_SECONDS = 3600
BROWSER = re.compile(r"[\w-]{43}", re.ASCII)
# A form's answer may redirect to the provider or to the agency's page. Browsers check every redirect on the way against
# this list, and nobody knows where the agency's page redirects next, so it allows https everywhere.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self' https: {provider}; base-uri 'none'; frame-ancestors 'none'"
)


def callback_address() -> str:
    """Return the address to which the provider sends browsers back. It is registered there in exactly this form."""
    return f"{settings.PUBLIC_URL}/connect/callback"


def provider_sources() -> str:
    """Return policy sources for the provider's dialog and for the sibling hosts to which it redirects phones."""
    parts = urlsplit(settings.META_DIALOG_URL)
    own = f"{parts.scheme}://{parts.netloc}"
    return f"{own} {parts.scheme}://*.{parts.netloc.removeprefix('www.')}" if parts.netloc.startswith("www.") else own


class ConnectPage(View):
    """A page of the connect flow. It is not cached, framed, indexed or sent as a referrer."""

    http_method_names = ["get", "head", "post"]
    session: ConnectSession

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        try:
            response = self.run(request, *args, **kwargs)
        except OtherBrowser:
            response = self.page("channelconnect/other_browser.html", status=403)
        except TenantSuspended as suspended:
            response = self.page(
                "channelconnect/suspended.html", status=409, message=in_page_language(suspended.message)
            )
        except Http404:
            response = render(request, "channelconnect/unknown_link.html", status=404)
        return add_security_headers(response)

    @classmethod
    def address_of_form(cls, request: HttpRequest) -> str:
        """Return the address of the page with the form. A view that only accepts POST lies below it."""
        return request.path if "get" in cls.http_method_names else request.path.rpartition("/")[0]

    def run(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)

    def require_session(self, session: ConnectSession | None) -> ConnectSession:
        """Set the session that this page is about. Without one, or on another agency's host, the answer is 404."""
        if session is None or host_agency_id(self.request) not in (None, session.agency_id):
            raise Http404
        self.session = session
        prefer_language_of(self.request, session.agency)
        return session

    @cached_property
    def now(self) -> datetime:
        """The time of the clock that also wrote the session's end."""
        return database_now()

    @property
    def browser(self) -> str | None:
        """The secret in this browser's cookie."""
        value = self.request.COOKIES.get(settings.CONNECT_COOKIE_NAME, "")
        return value if BROWSER.fullmatch(value) else None

    @property
    def by(self) -> Actor:
        return request_actor(self.request, kind="customer", id="", label="customer")

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        """Render a page about the session with its agency's name and look."""
        session = self.session
        frame = {
            "session": session,
            "agency": session.agency,
            "workspace": session.workspace,
            "platform": session.get_platform_display(),
            "look": theme_of_agency(session.agency, brand_of(session.agency)),
        }
        return render(self.request, template, {**frame, **context}, status=status)


def remember_browser(response: HttpResponseBase, secret: str) -> None:
    """Set the browser's cookie: for this host only, hidden from scripts, and sent when the provider redirects back."""
    response.set_cookie(
        settings.CONNECT_COOKIE_NAME,
        secret,
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def add_security_headers(response: HttpResponseBase) -> HttpResponseBase:
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["Content-Security-Policy"] = POLICY.format(provider=provider_sources())
    return response


MOST_AT_ONCE = 2
PROVIDER_CALLS = ConcurrencyLimit(MOST_AT_ONCE)
