"""Refused forms are answered by redirect, so that reload and Back show a page and send nothing again."""

from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib.messages import get_messages
from django.contrib.messages.storage.base import BaseStorage
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.utils.cache import add_never_cache_headers
from django.utils.translation import get_language

from agency.pages.forms.nonce import PARAMETER, sent_value, value_in, value_of_form
from agency.pages.forms.refused_pages import (
    Browser,
    RefusedPage,
    browser_of,
    forget_pages,
    keep_page,
    kept_page,
    key_of,
)
from config.serving.middleware import Next

REFUSED: Final = frozenset({409, 422, 429, 503})
NOT_PAGES: Final = ("/api/", "/admin/", "/internal/")
LONGEST_REFERER: Final = 8000
# Headers that belong to a response and not to its page.
OF_THE_ANSWER: Final = frozenset({"content-length", "set-cookie", "vary"})


class SeeFormPage(HttpResponseRedirect):
    """Redirects a refused form to its page, which is requested by GET."""

    status_code = 303


class RefusedForms:
    """Redirects a browser whose form was refused to the form's page, and shows the refusal there.

    The page's own response comes first: if it redirects, or this person may no longer see the page, the refusal is not
    shown. Programs, scripts and browsers that do not say that they navigate get the refusal as the response to their
    POST.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(NOT_PAGES):
            return self.get_response(request)
        if request.method == "POST":
            return self._answer_form(request)
        response = self.get_response(request)
        # A query that was refused, such as one with too many values, is not read again.
        is_page = response.status_code == 200 and request.method in {"GET", "HEAD"}
        if is_page and is_navigation(request) and value_in(request.GET):
            return _with_kept_page(request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Record that the view has failed, as the page that says so is no form."""
        request._view_has_failed = True  # type: ignore[attr-defined]  # ours alone

    def _answer_form(self, request: HttpRequest) -> HttpResponseBase:
        has_page = is_navigation(request) or f"{PARAMETER}=" in request.headers.get("Referer", "")
        # Read the browser first, as signing in and out changes it.
        browser = browser_of(request) if has_page else None
        response = self.get_response(request)
        shows_form = hasattr(request, "_shows_form_again") or _is_refusal(request, response)
        if shows_form and is_navigation(request):
            return _kept(request, response) or response
        if browser and not shows_form and response.status_code < 400:
            _forget(request, browser)
        return response


def is_navigation(request: HttpRequest) -> bool:
    """Return whether the browser says that it navigates to this address."""
    return request.headers.get("Sec-Fetch-Mode") == "navigate"


def show_no_kept_page(request: HttpRequest) -> None:
    """Record that this response counts more than a form that was refused before."""
    request._shows_no_kept_page = True  # type: ignore[attr-defined]  # ours alone


def show_form_again(request: HttpRequest) -> None:
    """Record that the response shows the form again with what was typed, though nothing was refused."""
    request._shows_form_again = True  # type: ignore[attr-defined]  # ours alone


def _is_refusal(request: HttpRequest, response: HttpResponseBase) -> bool:
    is_page = response.headers.get("Content-Type", "").startswith("text/html") and isinstance(response, HttpResponse)
    return is_page and response.status_code in REFUSED and not hasattr(request, "_view_has_failed")


def _kept(request: HttpRequest, response: HttpResponseBase) -> HttpResponse | None:
    """Keep a refusal and redirect to it; None if it cannot be kept."""
    address, browser = _form_page_of(request), browser_of(request)
    if not address or browser is None or not isinstance(response, HttpResponse):
        return None
    path, query = address
    value = sent_value(request) or value_in(query) or value_of_form(request)
    headers = {name: text for name, text in response.items() if name.lower() not in OF_THE_ANSWER}
    headers.setdefault("Content-Language", get_language() or "")
    key = key_of(request, browser, path=path, value=value)
    if not keep_page(key, RefusedPage(headers, response.content), browser):
        return None
    query[PARAMETER] = value
    answer = SeeFormPage(f"{path}?{query.urlencode()}")
    answer.cookies = response.cookies
    add_never_cache_headers(answer)
    return answer


def _with_kept_page(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return the page that refused this form if it is still kept, else the response."""
    browser = browser_of(request)
    if browser is None or hasattr(request, "_shows_no_kept_page"):
        return response
    path = urlsplit(request.get_full_path()).path
    page = kept_page(key_of(request, browser, path=path, value=value_in(request.GET)))
    if page is None:
        return response
    shown = HttpResponse(page.body, headers=dict(page.headers))
    shown.cookies = response.cookies
    if "Vary" in response.headers:
        shown.headers["Vary"] = response.headers["Vary"]
    messages = get_messages(request)
    if isinstance(messages, BaseStorage):
        messages.used = False  # the messages of the page that is not shown stay unread
    return shown


def _forget(request: HttpRequest, browser: Browser) -> None:
    """Drop the refusals of a form that has now succeeded, so that Back shows what is saved."""
    address = _form_page_of(request)
    if address:
        path, query = address
        # A script that sends something else, such as that a message was read, leaves the refused form's page.
        values = {sent_value(request), value_in(query) if is_navigation(request) else ""} - {""}
        forget_pages([key_of(request, browser, path=path, value=value) for value in values], browser)


def _form_page_of(request: HttpRequest) -> tuple[str, QueryDict] | None:
    """Return path and query of the page with the form, with the query that the page was opened with."""
    view: Any = getattr(request.resolver_match and request.resolver_match.func, "view_class", None)
    find = getattr(view, "address_of_form", None)
    if find is None and (view is None or "get" not in view.http_method_names or not hasattr(view, "get")):
        return None
    try:
        parts = urlsplit(find(request) if find else request.get_full_path())
    except Http404:
        return None
    query = QueryDict(parts.query) if parts.query else _query_before(request, parts.path)
    return parts.path, query.copy()


def _query_before(request: HttpRequest, path: str) -> QueryDict:
    """Return the query of the page that sent this, if that is the page at `path`."""
    try:
        referer = urlsplit(request.headers.get("Referer", "")[:LONGEST_REFERER])
        is_there = referer.netloc == request.get_host() and referer.path == path
        return QueryDict(referer.query if is_there else "")
    except (ValueError, SuspiciousOperation):
        return QueryDict()
