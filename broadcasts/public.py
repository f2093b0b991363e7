"""Tracked links, below `/l/`. They redirect first and count the click afterwards.

An answer from memory is given on the web server's event loop and costs a third of an answer through Django.
"""

import re
from collections.abc import Callable
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from agency.pages.branding import cached_host, host_agency_id
from broadcasts.services.link_clicks import (
    FollowedLink,
    follow_link,
    follow_link_at_once,
    record_clicks,
    waiting_clicks,
)
from broadcasts.services.tracked_links import PATH
from config.api.requests import client_address, rate_limit_bucket
from config.api.throttling import RateLimit, count_request
from config.event_loop_responses import EventLoopRequest, EventLoopResponse, EventLoopRoute

# The first words find programs that call themselves bot, crawler or preview. CUBOT is a brand of phones.
PREVIEWS: Final = re.compile(
    r"(?<!cu)bot(?![a-z])|crawl|spider|preview|externalhit|externalagent|externalfetcher|facebookcatalog|facebot|"
    r"^WhatsApp/|Slack-ImgProxy|Google-?Messages|GoogleImageProxy|Google-(?:PageRenderer|Read-Aloud|Safety)|"
    r"Microsoft (?:Office|Outlook)|ms-office|MSOffice|SafeLinks|Outlook-|Iframely|Embedly|Pinterest/0|vkShare|"
    r"redditbot|^Viber|W3C_Validator|HeadlessChrome|Lighthouse|Barracuda|Mimecast|Proofpoint|"
    r"^(?:curl|Wget|python|Python|Go-http-client|okhttp|Java|node|axios|got|libwww|Apache-HttpClient|Dalvik)[/\- (]",
    re.IGNORECASE,
)


def is_person(header: Callable[[str], str]) -> bool:
    """Say whether a GET looks like a person's. Browsers name themselves, and mark a request that only prefetches.

    `header` returns a request's header by its name, empty if it is missing.
    """
    agent = header("User-Agent")
    if not agent or PREVIEWS.search(agent[:1_000]):
        return False
    ahead = header("Sec-Purpose") + header("Purpose")
    return "prefetch" not in ahead.lower() and header("X-Moz") != "prefetch"


HEADERS: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}
# The number of unknown links that an address may request in a minute. Known links have no limit: a whole country's
# phones may share a few addresses, and nobody can guess a token by trying.
MOST_UNKNOWN: Final = 60


class LinkRedirect(HttpResponse):
    """A 302 to a link's address. The server calls `close` once the response is on its way; that records the click."""

    status_code = 302

    def __init__(self, followed: FollowedLink, *, is_click: bool) -> None:
        super().__init__(headers={**HEADERS, "Location": followed.address})
        self._click = followed.link if is_click else None

    def close(self) -> None:
        if self._click:
            click, self._click = self._click, None
            record_clicks([click])
        super().close()


@csrf_exempt  # other methods get 405 instead of the CSRF check's 403
@require_safe
def follow(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect to the address that the token names in a broadcast's frozen list, and never to any other address."""
    followed = follow_link(token, host_agency=host_agency_id(request))
    if followed is None:
        return _unknown(request)
    return LinkRedirect(
        followed, is_click=request.method == "GET" and is_person(lambda name: request.headers.get(name, ""))
    )


def _unknown(request: HttpRequest) -> HttpResponse:
    bucket = rate_limit_bucket(client_address(request))
    rate = count_request(RateLimit(f"unknown-links:{bucket}", MOST_UNKNOWN))
    if rate and rate.retry_after:
        return HttpResponse(
            "Too many unknown links. Try again later.",
            status=429,
            content_type="text/plain; charset=utf-8",
            headers={**HEADERS, "Retry-After": str(rate.retry_after)},
        )
    raise Http404


# An answer from memory costs a third of an answer through Django.

RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def redirect_from_memory(request: EventLoopRequest) -> EventLoopResponse | None:
    """Redirect if this process knows the host and the broadcast. The click is recorded with others of the moment."""
    host = cached_host(request.header(b"host"))
    if host is None:
        return None
    followed = follow_link_at_once(request.path.removeprefix(PATH), host_agency=host.agency_id)
    if followed is None:
        return None
    is_click = request.method == "GET" and is_person(lambda name: request.header(name.lower().encode()))
    must_record = is_click and waiting_clicks.add(followed.link)
    return EventLoopResponse(
        302,
        [*RAW_HEADERS, (b"location", followed.address.encode("latin-1"))],
        is_installations=host.agency_id is None,
        afterwards=waiting_clicks.record if must_record else None,
    )


TRACKED_LINKS = EventLoopRoute(PATH, redirect_from_memory)


app_name = "links"
urlpatterns = [path("<str:token>", follow, name="follow")]
