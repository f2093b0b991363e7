"""The public page of a tracked link. It redirects first and counts the click afterwards; it reads no session."""

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from agency.pages.branding.host import host_agency_id
from broadcasts.public.bots import is_person
from broadcasts.services.tracking.clicks import FollowedLink, follow_link, record_clicks
from config.api.requests.clients import address_bucket_of, client_address
from config.api.throttling import Limit, count

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}
# The number of unknown links that an address may request in a minute. Known links have no limit: a whole country's
# phones may share a few addresses, and nobody can guess a token by trying.
MOST_UNKNOWN: Final = 60


class LeadsOn(HttpResponse):
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
    return LeadsOn(followed, is_click=request.method == "GET" and is_person(lambda name: request.headers.get(name, "")))


def _unknown(request: HttpRequest) -> HttpResponse:
    bucket = address_bucket_of(client_address(request))
    rate = count(Limit(f"unknown-links:{bucket}", MOST_UNKNOWN))
    if rate and rate.retry_after:
        return HttpResponse(
            "Too many unknown links. Try again later.",
            status=429,
            content_type="text/plain; charset=utf-8",
            headers={**HEADERS, "Retry-After": str(rate.retry_after)},
        )
    raise Http404
