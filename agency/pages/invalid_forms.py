"""Refused forms are answered by redirect, so that reload and Back show a page and send nothing again."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib.messages import get_messages
from django.contrib.messages.storage.base import BaseStorage
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language
from django.views import View

from agency.pages.forms import NONCE_PARAMETER, form_nonce_value, nonce_in_query, submitted_nonce
from config.api.requests import client_address, rate_limit_bucket
from config.encryption import keyring
from config.redis import RedisUnavailable, call_redis
from config.serving.middleware import Next

if TYPE_CHECKING:
    from agency.pages.branding import PageRequest

# Pages that refuse a form are kept for ten minutes, so that they can be shown by GET. A page is shown only to the
# browser and the person who sent the form, at one address and in one agency or workspace; its key is made from all of
# these. Pages are encrypted. Their bytes are counted and bounded. Beyond a bound, or while Redis is away, nothing is
# kept, and the caller answers as it would without the kept page.

SALT: Final = "agency.pages.forms.refused_pages"
SECONDS: Final = 600
MOST_BYTES: Final = 256 * 1024  # of one page, compressed
MOST_PAGES: Final = 16  # of one browser; the oldest is dropped
# Bytes that may be written in ten minutes. Pages of strangers take no space from pages of signed-in people.
BYTES_OF_ADDRESS: Final = 1024 * 1024
BYTES_OF_STRANGERS: Final = 8 * 1024 * 1024
BYTES_OF_PERSON: Final = 2 * 1024 * 1024
BYTES_OF_PEOPLE: Final = 32 * 1024 * 1024
OVERHEAD: Final = 1024  # what Redis needs besides the page: two names, an entry of a list, counters
LEVEL: Final = 3
# One script, so that nothing happens between the check of the bounds and the write of the page. A counter without an
# expiry gets one.
KEEP: Final = """
for place = 3, 4 do
  local used = tonumber(redis.call('GET', KEYS[place]) or '0')
  if used > 0 and redis.call('PTTL', KEYS[place]) < 0 then redis.call('PEXPIRE', KEYS[place], ARGV[3]) end
  if used + tonumber(ARGV[2]) > tonumber(ARGV[place + 2]) then return 0 end
end
for place = 3, 4 do
  if redis.call('INCRBY', KEYS[place], ARGV[2]) == tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[place], ARGV[3])
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('LREM', KEYS[2], 0, KEYS[1])
redis.call('LPUSH', KEYS[2], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[4]) do redis.call('DEL', redis.call('RPOP', KEYS[2])) end
return 1
"""
FORGET: Final = """
for place = 2, #KEYS do
  if redis.call('DEL', KEYS[place]) == 1 then redis.call('LREM', KEYS[1], 0, KEYS[place]) end
end
"""


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser, known by secrets that it alone has, and the person who has signed in there, if anybody has."""

    secrets: tuple[str, ...]
    user: int | None
    bucket: str

    @property
    def name(self) -> str:
        return _digest(*self.secrets, str(self.user))

    def limits(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Return the counters that a page counts in, each with its bound in bytes."""
        if self.user is None:
            return ("address:" + self.bucket, BYTES_OF_ADDRESS), ("strangers", BYTES_OF_STRANGERS)
        return (f"person:{self.user}", BYTES_OF_PERSON), ("people", BYTES_OF_PEOPLE)


@dataclass(frozen=True, slots=True)
class CachedFormPage:
    """A rendered page: its headers and its body."""

    headers: Mapping[str, str]
    body: bytes


def browser_key_of(request: HttpRequest) -> Browser | None:
    """Return the browser of the request; None without the CSRF cookie, which every page with a form sets."""
    csrf = request.META.get("CSRF_COOKIE")
    if not csrf:
        return None
    bucket = rate_limit_bucket(client_address(request))
    if not request.user.is_authenticated:
        return Browser((csrf,), None, bucket)
    return Browser((csrf, request.session.session_key or ""), request.user.pk, bucket)


def cache_key_of(request: HttpRequest, browser: Browser, *, path: str, value: str) -> str:
    """Return the key of a kept page: a digest of where it is shown, to whom, and for which agency or workspace."""
    made_for = getattr(request, "made_for", None)
    return "refused-page:" + _digest(browser.name, request.get_host(), path, str(made_for), value)


def cache_form_page(key: str, page: CachedFormPage, browser: Browser) -> bool:
    """Keep a page; return whether it was kept."""
    plain = json.dumps(dict(page.headers)).encode() + b"\n" + page.body
    packed = zlib.compress(plain, LEVEL)
    if len(packed) > MOST_BYTES:
        return False
    sealed = keyring().encrypt(f"{key}:".encode() + packed)
    (sender, of_sender), (group, of_group) = browser.limits()
    keys = (key, _list_of(browser), f"limit:refused-pages:{sender}", f"limit:refused-pages:{group}")
    values = (sealed, len(sealed) + OVERHEAD, SECONDS * 1000, MOST_PAGES, of_sender, of_group)
    try:
        return bool(call_redis(lambda redis: redis.eval(KEEP, len(keys), *keys, *values)))
    except RedisUnavailable:
        return False


def cached_form_page(key: str) -> CachedFormPage | None:
    """Return a kept page; None if there is none, if it has expired, or if it cannot be decrypted."""
    try:
        sealed: Any = call_redis(lambda redis: redis.get(key))
    except RedisUnavailable:
        return None
    if sealed is None:
        return None
    try:
        plain = keyring().decrypt(sealed)
    except InvalidToken:
        return None
    binding = f"{key}:".encode()
    if not plain.startswith(binding):
        return None
    headers, _, body = zlib.decompress(plain[len(binding) :]).partition(b"\n")
    return CachedFormPage(json.loads(headers), body)


def delete_cached_pages(keys: list[str], browser: Browser) -> None:
    """Drop the pages of forms that have now succeeded; without Redis the pages expire."""
    if not keys:
        return
    try:
        call_redis(lambda redis: redis.eval(FORGET, len(keys) + 1, _list_of(browser), *keys))
    except RedisUnavailable:
        return


def _list_of(browser: Browser) -> str:
    return f"refused-pages:of:{browser.name}"


def _digest(*parts: str) -> str:
    return salted_hmac(SALT, "\n".join(parts), secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()


REFUSED: Final = frozenset({409, 422, 429, 503})
NOT_PAGES: Final = ("/api/", "/admin/", "/internal/")
LONGEST_REFERER: Final = 8000
# Headers that belong to a response and not to its page.
OF_THE_ANSWER: Final = frozenset({"content-length", "set-cookie", "vary"})


class HttpResponseSeeOther(HttpResponseRedirect):
    """Redirects a refused form to its page, which is requested by GET."""

    status_code = 303


class InvalidFormMiddleware:
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
        if is_page and is_navigation(request) and nonce_in_query(request.GET):
            return _with_kept_page(request, response)
        return response

    def process_exception(self, request: "PageRequest", exception: Exception) -> None:
        """Record that the view has failed, as the page that says so is no form."""
        request._view_has_failed = True

    def _answer_form(self, request: HttpRequest) -> HttpResponseBase:
        has_page = is_navigation(request) or f"{NONCE_PARAMETER}=" in request.headers.get("Referer", "")
        # Read the browser first, as signing in and out changes it.
        browser = browser_key_of(request) if has_page else None
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


def skip_cached_form_page(request: HttpRequest) -> None:
    """Record that this response counts more than a form that was refused before."""
    request._shows_no_kept_page = True  # type: ignore[attr-defined]  # ours alone


def mark_form_redisplayed(request: HttpRequest) -> None:
    """Record that the response shows the form again with what was typed, though nothing was refused."""
    request._shows_form_again = True  # type: ignore[attr-defined]  # ours alone


def _is_refusal(request: HttpRequest, response: HttpResponseBase) -> bool:
    is_page = response.headers.get("Content-Type", "").startswith("text/html") and isinstance(response, HttpResponse)
    return is_page and response.status_code in REFUSED and not hasattr(request, "_view_has_failed")


def _kept(request: HttpRequest, response: HttpResponseBase) -> HttpResponse | None:
    """Keep a refusal and redirect to it; None if it cannot be kept."""
    address, browser = _form_page_of(request), browser_key_of(request)
    if not address or browser is None or not isinstance(response, HttpResponse):
        return None
    path, query = address
    value = submitted_nonce(request) or nonce_in_query(query) or form_nonce_value(request)
    headers = {name: text for name, text in response.items() if name.lower() not in OF_THE_ANSWER}
    headers.setdefault("Content-Language", get_language() or "")
    key = cache_key_of(request, browser, path=path, value=value)
    if not cache_form_page(key, CachedFormPage(headers, response.content), browser):
        return None
    query[NONCE_PARAMETER] = value
    answer = HttpResponseSeeOther(f"{path}?{query.urlencode()}")
    answer.cookies = response.cookies
    add_never_cache_headers(answer)
    return answer


def _with_kept_page(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return the page that refused this form if it is still kept, else the response."""
    browser = browser_key_of(request)
    if browser is None or hasattr(request, "_shows_no_kept_page"):
        return response
    path = urlsplit(request.get_full_path()).path
    page = cached_form_page(cache_key_of(request, browser, path=path, value=nonce_in_query(request.GET)))
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
        values = {submitted_nonce(request), nonce_in_query(query) if is_navigation(request) else ""} - {""}
        delete_cached_pages([cache_key_of(request, browser, path=path, value=value) for value in values], browser)


def _form_page_of(request: HttpRequest) -> tuple[str, QueryDict] | None:
    """Return path and query of the page with the form, with the query that the page was opened with."""
    view: type[View] | None = getattr(request.resolver_match and request.resolver_match.func, "view_class", None)
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
