"""Pages of a list: which page was asked for, and the envelope of the answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_plus

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

from config.api.requests.parameters import Parameters

USUAL_SIZE = 25
LARGEST_SIZE = 100
# Far beyond every list. Its `offset` still fits a 64-bit integer and a JavaScript number.
LAST_PAGE_IMAGINABLE = 10**12
WHOLE_NUMBER = re.compile(r"(-?)0*([0-9]+)", re.ASCII)
HIGHEST_PORT = 65535
SAFE_IN_QUERY = "%/:?@!$&'()*+,;=-._~[]"


def read_number(text: str, *, usual: int, highest: int) -> int:
    """Read a number from the query string, clamped to 1…`highest`. Anything that is not a number is `usual`."""
    found = WHOLE_NUMBER.fullmatch(text)
    if found is None:
        return usual
    if found[1]:
        return 1
    digits = found[2]
    return highest if len(digits) > len(str(highest)) else max(1, min(int(digits), highest))


@dataclass(frozen=True, slots=True)
class Page:
    """The page asked for: `rows[offset : offset + size]` of the whole list."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size


def read_page(parameters: Parameters, *, limit_alias: bool, usual_size: int = USUAL_SIZE) -> Page:
    """Read `page` and `per_page`. With `limit_alias`, `limit` stands in for a missing `per_page`."""
    sized_by = "limit" if limit_alias and not parameters.sent("per_page") else "per_page"
    return Page(
        number=read_number(parameters.plain("page"), usual=1, highest=LAST_PAGE_IMAGINABLE),
        size=read_number(parameters.plain(sized_by), usual=usual_size, highest=LARGEST_SIZE),
    )


def origin(request: HttpRequest) -> str:
    """Return scheme and host as the caller used them, or the installation's own if these are invalid.

    On an agency's host it is that host's own address, whatever port the caller named.
    """
    own: str | None = getattr(request, "host_url", None)
    if own is not None:
        return own
    try:
        host = request.get_host()
    except DisallowedHost:
        return str(settings.PUBLIC_URL)
    port = host.rpartition(":")[2]
    if port.isdigit() and int(port) > HIGHEST_PORT:
        return str(settings.PUBLIC_URL)
    return f"{request.scheme}://{host}"


def _is_page(pair: str) -> bool:
    return unquote_plus(pair.partition("=")[0]) == "page"


def address_without_page(request: HttpRequest) -> str:
    """Return the list's address up to `page=`, with every other parameter as it was sent."""
    kept = [pair for pair in request.META.get("QUERY_STRING", "").split("&") if pair and not _is_page(pair)]
    query = quote("&".join(kept).encode("latin-1", "replace"), safe=SAFE_IN_QUERY)
    path = quote(request.path, safe="/:@!$&'()*+,;=-._~")
    return f"{origin(request)}{path}?{query}{'&' if query else ''}page="


def envelope(request: HttpRequest, page: Page, rows: Sequence[Any], total: int) -> dict[str, Any]:
    """Wrap a page's rows; `total` is the length of the whole list."""
    last = max(1, -(-total // page.size))
    here = address_without_page(request)
    return {
        "data": rows,
        "links": {
            "first": f"{here}1",
            "last": f"{here}{last}",
            "prev": f"{here}{min(page.number - 1, last)}" if page.number > 1 else None,
            "next": f"{here}{page.number + 1}" if page.number < last else None,
        },
        "meta": {
            "current_page": page.number,
            "from": page.offset + 1 if rows else None,
            "to": page.offset + len(rows) if rows else None,
            "per_page": page.size,
            "last_page": last,
            "total": total,
        },
    }
