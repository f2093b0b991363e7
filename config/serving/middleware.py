"""Middleware around every request: its id, scheme, session and headers, and whether its large body is read."""

import logging
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import cast

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.views import redirect_to_login
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve

from config.api.keys import presented_key
from config.api.requests import is_from_trusted_proxy
from config.api.surface import NEGOTIATION, JSONRequest, SurfaceView
from config.logs import request_id, request_id_for
from config.request_bodies import BODY_ADMITTED, body_rules
from config.serving.bodies import ASKS

# On another agency's host the same cookie counts as unknown. The session itself stays as it is, and cannot be read or
# ended from there.

# The key of the agency's id in the session's data. None, or no id, stands for the installation.
HOST_AGENCY = "host_agency"


class HostSession(SessionBase):
    """Goes in front of a session store, so that each session is good for one host."""

    host_agency_id: int | None = None

    def load(self) -> dict[str, object]:
        """Read the session. A session of another host reads like one that has ended."""
        data = super().load()
        if self.session_key and data.pop(HOST_AGENCY, None) != self.host_agency_id:
            self._session_key = None
            return {}
        return data

    def encode(self, session_dict: dict[str, object]) -> str:
        return super().encode({**session_dict, HOST_AGENCY: self.host_agency_id})

    def flush(self) -> None:
        """End the session, but only if it belongs to this host."""
        self._get_session()  # type: ignore[attr-defined]  # Django's own, behind every way to read
        super().flush()


@lru_cache(maxsize=4)
def host_bound(store: type[SessionBase]) -> type[HostSession]:
    """Return a store of the same sessions in which each is good for one host."""
    return type("SessionStore", (HostSession, store), {"__doc__": HostSession.__doc__})


Next = Callable[[HttpRequest], HttpResponseBase]
logger = logging.getLogger("requests")
NOT_LOGGED = frozenset({"/healthz", "/readyz"})


class RequestId:
    """Takes the caller's `X-Request-Id` or makes one, and writes one log line for each request."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = request_id_for(request.META.get("HTTP_X_REQUEST_ID", ""))
        token, started = request_id.set(name), time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = name
            if isinstance(response, HttpResponse) and "Content-Length" not in response.headers:
                response.headers["Content-Length"] = str(len(response.content))
            if request.path not in NOT_LOGGED and BODY_ADMITTED not in response.headers:
                self._log(request, response, started)
            return response
        finally:
            request_id.reset(token)

    def _log(self, request: HttpRequest, response: HttpResponseBase, started: float) -> None:
        logger.info(
            "request",
            extra={
                "method": request.method,
                "path": request.path,
                "status": response.status_code,
                "ms": round((time.perf_counter() - started) * 1000, 1),
            },
        )


class ForwardedScheme:
    """Believes `X-Forwarded-Proto` only from the installation's own proxies."""

    def __init__(self, get_response: Next) -> None:
        if not settings.TRUSTED_PROXIES:
            raise MiddlewareNotUsed  # then the header is never believed, see SECURE_PROXY_SSL_HEADER
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not is_from_trusted_proxy(request):
            request.META.pop("HTTP_X_FORWARDED_PROTO", None)
        return self.get_response(request)


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class SecurityHeaders:
    """Gives every answer the headers that keep a browser safe. A view may set its own policy first.

    It stands before the middleware that finds out whose host was asked, because that may fail.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        headers = response.headers
        headers.setdefault("X-Content-Type-Options", "nosniff")
        if request.path_info.startswith("/api/"):
            headers.setdefault("Cache-Control", "no-store")
        if headers.get("Content-Type", "").startswith("text/html"):
            headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
            headers.setdefault("X-Frame-Options", "DENY")
            headers.setdefault("Referrer-Policy", settings.SECURE_REFERRER_POLICY)
        return response


def is_api(request: HttpRequest) -> bool:
    """Return whether a request is for the API, which has no sessions, users or messages."""
    return request.path_info.startswith("/api/")


class PageSessions(SessionMiddleware):
    """Sessions of pages. Each is good for the hosts of one agency, or for the installation's own."""

    def __init__(self, get_response: Next) -> None:
        super().__init__(get_response)
        self.SessionStore = host_bound(self.SessionStore)

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        session = cast(HostSession, request.session)
        session.host_agency_id = getattr(request, "host_agency_id", None)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request) if is_api(request) else super().__call__(request)


class PageUsers(AuthenticationMiddleware):
    """Adds users to requests for pages, and not to those for the API."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request) if is_api(request) else super().__call__(request)


class PageMessages(MessageMiddleware):
    """Adds messages to requests for pages, and not to those for the API."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request) if is_api(request) else super().__call__(request)


class BodyAdmission:
    """Tells the web server whether to read a body. If not, the client gets the answer to a request without the body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if ASKS not in request.META:
            return self.get_response(request)
        try:
            match = resolve(request.path_info, urlconf=getattr(request, "urlconf", None))
        except Resolver404:
            return self.get_response(request)
        if body_rules.of(request.path_info).signed_in and not request.user.is_authenticated:
            return _answer_unread(request, match)
        is_wanted = _has_known_key(request, match) if is_api(request) else _takes_post(match)
        if is_wanted:
            return HttpResponse(headers={BODY_ADMITTED: "yes"})
        return self.get_response(request)  # whose view refuses it, or the unread body


def _has_known_key(request: HttpRequest, match: ResolverMatch) -> bool:
    view_class = getattr(match.func, "cls", None)
    if not (isinstance(view_class, type) and issubclass(view_class, SurfaceView)):
        return False
    view = view_class()
    view.request = JSONRequest(request, negotiator=NEGOTIATION)
    lookup = view.look_up_key(presented_key(request))
    return lookup.switched_on and lookup.caller is not None


def _takes_post(match: ResolverMatch) -> bool:
    view_class = getattr(match.func, "view_class", None)
    return view_class is None or hasattr(view_class, "post")


def _answer_unread(request: HttpRequest, match: ResolverMatch) -> HttpResponseBase:
    """Return the view's own answer to a sender who has not signed in, else a redirect to the sign-in page."""
    request.resolver_match = match
    answer: Callable[[HttpRequest], HttpResponseBase] | None
    answer = getattr(getattr(match.func, "view_class", None), "answer_unread", None)
    return answer(request) if answer else redirect_to_login(request.get_full_path())
