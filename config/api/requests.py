"""Reads a request: its client's address, the ids in its path, its query string, and which page of a list it wants."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import parse_qsl, quote, unquote_plus
from uuid import UUID
from wsgiref.types import WSGIEnvironment

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.urls import register_converter

from config.api.errors import BadRequest

Address = IPv4Address | IPv6Address
UNKNOWN = "unknown"
# A request passes a handful of proxies. A client that sends more entries does not describe a route.
MOST_HOPS = 32


@lru_cache(maxsize=4096)
def parse_address(text: str) -> Address | None:
    """Parse an address as proxies write it, perhaps with port, brackets or scope; None for anything else."""
    bare = text.strip()
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_trusted(address: Address) -> bool:
    return any(address in network for network in settings.TRUSTED_PROXIES)


def _hops(environ: WSGIEnvironment) -> Iterator[Address | None]:
    """Return the entries of X-Forwarded-For, nearest first."""
    entries = environ.get("HTTP_X_FORWARDED_FOR", "").rsplit(",", MOST_HOPS)[-MOST_HOPS:]
    return (parse_address(entry) for entry in reversed(entries) if entry.strip())


def is_trusted_peer(address: str) -> bool:
    """Return whether the socket's peer is a proxy that the installation trusts."""
    peer = parse_address(address)
    return peer is not None and _is_trusted(peer)


def is_from_trusted_proxy(request: HttpRequest) -> bool:
    return is_trusted_peer(request.META.get("REMOTE_ADDR", ""))


def client_address(request: HttpRequest) -> Address | None:
    """Return the socket's peer, or behind trusted proxies the nearest address that is not a trusted proxy."""
    return client_address_of(request.META)


def client_address_of(environ: WSGIEnvironment) -> Address | None:
    """Return the client's address from a request's environment."""
    peer = environ.get("REMOTE_ADDR", "")
    client = parse_address(peer)
    if not is_trusted_peer(peer):
        return client
    for hop in _hops(environ):
        if hop is None:
            return client
        client = hop
        if not _is_trusted(hop):
            return client
    return client


@lru_cache(maxsize=4096)
def rate_limit_bucket(address: Address | None) -> str:
    """Return the name that an address is counted under: itself, or for IPv6 the /64 that a host has at its disposal."""
    if address is None:
        return UNKNOWN
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))


SPELLING = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_uuid(text: str) -> UUID | None:
    """Parse 8-4-4-4-12 hexadecimal digits in any case. Braces, `urn:` and bare digits are not accepted."""
    return UUID(text) if SPELLING.fullmatch(text) else None


class IdConverter:
    """`<id:workspace>` in a path takes any text. A malformed id becomes `None`, so it reads like an unknown one."""

    regex = "[^/]+"

    def to_python(self, value: str) -> UUID | None:
        return parse_uuid(value)

    def to_url(self, value: UUID | str) -> str:
        return str(value)


register_converter(IdConverter, "id")


# A text that cannot be stored matches nothing.

MOST_PARAMETERS = 1000


class NothingMatches(Exception):
    """A filter's value can belong to nothing that exists. The surface answers with an empty list."""


def is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class QueryParameters:
    """The query string's parameters. The last one of a name counts, and a blank one counts as not sent."""

    def __init__(self, query: str) -> None:
        self.query = query

    @classmethod
    def of(cls, request: HttpRequest) -> "QueryParameters":
        return cls(request.META.get("QUERY_STRING", ""))

    @cached_property
    def _values(self) -> dict[str, str]:
        if not self.query:
            return {}
        # WSGI passes bytes as Latin-1. Bytes that are not UTF-8 become lone surrogates, which match nothing.
        text = self.query.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
        try:
            return dict(parse_qsl(text, errors="surrogateescape", max_num_fields=MOST_PARAMETERS))
        except ValueError as error:
            raise BadRequest("The query string has too many parameters.") from error

    def plain(self, name: str) -> str:
        """Return a parameter as it was sent, or an empty string."""
        return self._values.get(name, "")

    def sent(self, name: str) -> bool:
        return name in self._values


DEFAULT_PAGE_SIZE = 25
MAX_PAGE_SIZE = 100
# Far beyond every list. Its `offset` still fits a 64-bit integer and a JavaScript number.
MAX_PAGE_NUMBER = 10**12
WHOLE_NUMBER = re.compile(r"(-?)0*([0-9]+)", re.ASCII)
HIGHEST_PORT = 65535
SAFE_IN_QUERY = "%/:?@!$&'()*+,;=-._~[]"


def parse_clamped_number(text: str, *, usual: int, highest: int) -> int:
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


def read_page(parameters: QueryParameters, *, limit_alias: bool, usual_size: int = DEFAULT_PAGE_SIZE) -> Page:
    """Read `page` and `per_page`. With `limit_alias`, `limit` stands in for a missing `per_page`."""
    sized_by = "limit" if limit_alias and not parameters.sent("per_page") else "per_page"
    return Page(
        number=parse_clamped_number(parameters.plain("page"), usual=1, highest=MAX_PAGE_NUMBER),
        size=parse_clamped_number(parameters.plain(sized_by), usual=usual_size, highest=MAX_PAGE_SIZE),
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


def page_link_prefix(request: HttpRequest) -> str:
    """Return the list's address up to `page=`, with every other parameter as it was sent."""
    kept = [pair for pair in request.META.get("QUERY_STRING", "").split("&") if pair and not _is_page(pair)]
    query = quote("&".join(kept).encode("latin-1", "replace"), safe=SAFE_IN_QUERY)
    path = quote(request.path, safe="/:@!$&'()*+,;=-._~")
    return f"{origin(request)}{path}?{query}{'&' if query else ''}page="


def page_envelope(request: HttpRequest, page: Page, rows: Sequence[object], total: int) -> dict[str, object]:
    """Wrap a page's rows; `total` is the length of the whole list."""
    last = max(1, -(-total // page.size))
    here = page_link_prefix(request)
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
