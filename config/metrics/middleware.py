"""Measures every request: how long it took, and why it failed if that was our fault."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from config.metrics.recording import count, observe

NOT_MEASURED = frozenset({"/healthz", "/readyz"})
SERVER_ERROR = 500


class RequestMetrics:
    """Measures requests. It comes before every other middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info in NOT_MEASURED:
            return self.get_response(request)
        started = time.perf_counter()
        response = self.get_response(request)
        surface = "api" if request.path_info.startswith("/api/") else "pages"
        observe("web_request_seconds", time.perf_counter() - started, surface)
        if response.status_code >= SERVER_ERROR:
            count("web_faults_total", 1, cause_of(response))
        return response


def cause_of(response: HttpResponseBase) -> str:
    """Return why a request failed: the cause that `mark_cause` recorded, or `unexpected`."""
    cause: str = response.__dict__.get("_cause", "unexpected")
    return cause


def mark_cause(response: HttpResponseBase, cause: str) -> None:
    """Record in a word or two why this answer has a 5xx status."""
    response.__dict__["_cause"] = cause
