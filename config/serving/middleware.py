"""Middleware around every request: its id, its scheme, and the headers that browsers obey."""

import logging
import time
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase

from config.api.requests.clients import comes_from_a_proxy
from config.logs import name_request, request_id
from config.request_bodies import ADMITTED
from config.serving.host_sessions import HostSession, host_bound

Next = Callable[[HttpRequest], HttpResponseBase]
logger = logging.getLogger("requests")
NOT_LOGGED = frozenset({"/healthz", "/readyz"})


class RequestId:
    """Takes the caller's `X-Request-Id` or makes one, and writes one log line for each request."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = name_request(request.META.get("HTTP_X_REQUEST_ID", ""))
        token, started = request_id.set(name), time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = name
            if not response.streaming and "Content-Length" not in response.headers:
                response.headers["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]  # not streaming
            if request.path not in NOT_LOGGED and ADMITTED not in response.headers:
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
        if not comes_from_a_proxy(request):
            request.META.pop("HTTP_X_FORWARDED_PROTO", None)
        return self.get_response(request)


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_api(request) else super().__call__(request)


class PageUsers(AuthenticationMiddleware):
    """Adds users to requests for pages, and not to those for the API."""

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_api(request) else super().__call__(request)


class PageMessages(MessageMiddleware):
    """Adds messages to requests for pages, and not to those for the API."""

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_api(request) else super().__call__(request)
