"""Error pages with the request's id; below `/api/` the API's own errors."""

import logging
import sys
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from agency.pages.branding import cached_theme, theme_of_host
from agency.pages.form_drafts import DraftOutcome, answer_signed_out, remember_browser, save_form_draft
from config.api.errors import (
    RETRY_AFTER_SECONDS,
    SERVER_ERROR,
    exception_handler,
    is_race_lost,
    is_unavailable,
    log_fault,
    path_not_found,
)
from config.api.responses import error_response
from config.logs import request_id

logger = logging.getLogger(__name__)

FAULTS = 500

MESSAGES = {
    400: (_("We could not understand this request"), _("Go back and try again.")),
    403: (_("This is not allowed"), _("The page may be out of date, or your role does not include this.")),
    404: (_("Page not found"), _("The address may be mistyped, or the page no longer exists.")),
    405: (_("This page cannot be opened this way"), _("Go back and use the buttons on that page.")),
    503: (_("We cannot answer right now"), _("You did nothing wrong. Please try again in a few seconds.")),
    500: (_("Something went wrong on our side"), _("You did nothing wrong. Please try again in a moment.")),
}


def is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def error_page(request: HttpRequest, status: int) -> HttpResponse:
    """Render an error page in the host's theme; for a fault of ours, in a theme that needs no query."""
    title, advice = MESSAGES[status]
    look = theme_of_host(request) if status < FAULTS else cached_theme(request)
    context = {"title": title, "advice": advice, "status": status, "request_id": request_id.get(), "look": look}
    return HttpResponse(render_to_string("pages/error.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that no view may see (too many fields, an undeclared look-up); log one line and no trace."""
    logger.warning("request refused", extra={"reason": type(exception).__name__})
    return exception_handler(exception, {}) if is_api(request) else error_page(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return exception_handler(exception, {}) if is_api(request) else error_page(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return path_not_found(request) if is_api(request) else error_page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an exception that no view has handled; Django calls this where it has caught it."""
    fault = sys.exception()
    if fault is not None and (is_unavailable(fault) or is_race_lost(fault)):
        return _unavailable(request, fault)
    return error_response(500, SERVER_ERROR) if is_api(request) else error_page(request, 500)


def _unavailable(request: HttpRequest, fault: BaseException) -> HttpResponse:
    if is_api(request) and isinstance(fault, Exception):
        return exception_handler(fault, {})
    log_fault(fault, logging.WARNING)
    answer = error_page(request, 503)
    answer.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    answer.__dict__["_has_been_logged"] = True  # one line is enough, and a trace would quote rows
    return answer


def is_same_origin(request: HttpRequest) -> bool:
    """Return whether the browser's headers say that a page of ours sent this."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without a valid CSRF token; a form of ours from before a new sign-in is shown again.

    The form must come from a page of ours, as another site could otherwise have anything kept. The form's nonce says
    for whom it was shown. Nothing is changed.
    """
    view: Any = getattr(request.resolver_match and request.resolver_match.func, "view_class", None)
    if not hasattr(view, "address_of_form") or not is_same_origin(request):
        return error_page(request, 403)
    page = view.address_of_form(request)
    if not request.user.is_authenticated:
        return answer_signed_out(request, page=page, keeps=view.keeps_form_data)
    if not view.keeps_form_data or save_form_draft(request, page) is not DraftOutcome.KEPT:
        return error_page(request, 403)
    response = redirect(page)
    remember_browser(request, response)
    return response
