"""A tracked link for everybody who has it: leads on at once, and counts afterwards. No session is looked at."""

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
# Unknown links that an address may ask for in a minute. Known ones are not limited: a whole country's phones may
# share a few addresses, and a token cannot be guessed by trying.
MOST_UNKNOWN: Final = 60


class LeadsOn(HttpResponse):
    """302 to a link's address. The click is recorded when the answer is on its way: the server closes it then."""

    status_code = 302

    def __init__(self, followed: FollowedLink, *, is_click: bool) -> None:
        super().__init__(headers={**HEADERS, "Location": followed.address})
        self._click = followed.link if is_click else None

    def close(self) -> None:
        if self._click:
            click, self._click = self._click, None
            record_clicks([click])
        super().close()


@csrf_exempt  # what changes nothing is 405 for every other method, not 403
@require_safe
def follow(request: HttpRequest, token: str) -> HttpResponse:
    """Lead to the address of a broadcast's frozen list that the token names, and to nowhere else."""
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
