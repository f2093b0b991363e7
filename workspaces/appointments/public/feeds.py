"""Serves the calendars of staff members at their secret addresses, below `/calendar/`. Calendar programs read them."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agency.pages.branding import host_serves
from agency.pages.views import ConcurrencyLimit
from config.api.requests import client_address, rate_limit_bucket
from config.api.throttling import RateLimit, count_request
from config.db import database_now
from workspaces.appointments.models import CalendarFeed
from workspaces.appointments.services.calendar_feeds import contents_of, feed_of_token, note_fetch

# Requests in a minute. A company such as Google reads the calendars of many people from one network.
MOST_OF_NETWORK: Final = 300
MOST_OF_FEED: Final = 10
# The largest file takes about a second of work. The limit keeps files from occupying all threads.
FILES: Final = ConcurrencyLimit(2)
BUSY_SECONDS: Final = 60
CALENDAR: Final = "text/calendar; charset=utf-8"
HEADERS: Final = {
    "Cache-Control": "private, no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}


@require_safe
def read_feed(request: HttpRequest, token: str) -> HttpResponseBase:
    """Give the calendar of the staff member whose address this is. A wrong and a stopped address read alike."""
    network = rate_limit_bucket(client_address(request))
    answer = _refuse_too_many(f"calendar-feeds:{network}", MOST_OF_NETWORK) or _answer(request, token)
    for name, value in HEADERS.items():
        answer.headers[name] = value
    return answer


def _answer(request: HttpRequest, token: str) -> HttpResponseBase:
    feed = feed_of_token(token)
    if feed is None or not _is_served(request, feed):
        return _plain(404, _("There is no calendar at this address."))
    refused = _refuse_too_many(f"calendar-feed:{feed.pk}", MOST_OF_FEED)
    return refused or _calendar(request, feed)


def _is_served(request: HttpRequest, feed: CalendarFeed) -> bool:
    workspace = feed.workspace
    return workspace.is_active and workspace.agency.is_active and host_serves(request, (workspace.agency_id,))


def _calendar(request: HttpRequest, feed: CalendarFeed) -> HttpResponseBase:
    now = database_now()
    note_fetch(feed, now=now)
    with translation.override(feed.workspace.agency.language or settings.LANGUAGE_CODE):
        contents = contents_of(feed, now=now)
    # It is weak, because a file also holds the time at which it was written.
    etag = f'W/"{contents.digest}"'
    answer = get_conditional_response(request, etag=etag)
    if answer is None and request.method == "HEAD":
        answer = HttpResponse(content_type=CALENDAR)
    if answer is None:
        with FILES.slot() as is_free:
            if not is_free:
                return _plain(503, _("Too many requests"), retry_after=BUSY_SECONDS)
            answer = HttpResponse(contents.write(now=now), content_type=CALENDAR)
    answer.headers["ETag"] = etag
    return answer


def _refuse_too_many(bucket: str, most: int) -> HttpResponse | None:
    rate = count_request(RateLimit(bucket, most))
    if rate is None or rate.retry_after is None:
        return None
    return _plain(429, _("Too many requests"), retry_after=rate.retry_after)


def _plain(status: int, text: str, *, retry_after: int | None = None) -> HttpResponse:
    answer = HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    if retry_after is not None:
        answer.headers["Retry-After"] = str(retry_after)
    return answer


app_name = "calendar"
urlpatterns = [path("<str:token>.ics", read_feed, name="feed")]
