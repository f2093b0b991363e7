"""Parses a receiver's URL, once and strictly. The sender connects to exactly what was read here."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from config.http.addresses import canonical
from config.http.hosts import HostInvalid, ascii_host, is_internal_name, is_plain_ipv4

LONGEST_URL = 2048
_DEFAULT_PORTS = {"http": 80, "https": 443}
_ABSOLUTE = re.compile(r"(https?)://([^/?]*)(.*)", re.IGNORECASE | re.ASCII)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::(.*))?")
_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_BLANK = frozenset({"Cc", "Zs", "Zl", "Zp"})
# Everything that RFC 3986 allows in a path and a query, and percent signs that are there already.
_KEPT_IN_RESOURCE = "!$%&'()*+,/:;=?@[]|~"

INVALID_HOST = "The URL's host name is not valid."


class TargetRefused(ValueError):
    """A refused URL. The text tells a person why."""


class Target(NamedTuple):
    """A receiver's URL in its parts."""

    url: str  # absolute, in ASCII; this is requested
    scheme: str
    host: str  # an ASCII name, or an address without brackets
    port: int
    resource: str  # path and query
    address: str | None  # set if the host is an address and not a name
    is_internal: bool  # a name that means nothing in public DNS


@lru_cache(maxsize=4096)
def parse_target(url: str) -> Target:
    """Parse a URL. Raises TargetRefused. This does not check where the URL leads."""
    _check_characters(url)
    parts = _ABSOLUTE.fullmatch(url)
    if parts is None:
        raise TargetRefused("The URL must start with https:// or http://.")
    scheme, authority, resource = parts[1].lower(), parts[2], parts[3]
    if "@" in authority:
        raise TargetRefused("The URL may not contain a user name or a password.")
    named = _AUTHORITY.fullmatch(authority)
    if named is None:
        raise TargetRefused(INVALID_HOST)
    host, address = _read_host(named[1])
    port = _DEFAULT_PORTS[scheme] if named[2] is None else _read_port(named[2])
    resource = quote(resource if resource.startswith("/") else f"/{resource}", safe=_KEPT_IN_RESOURCE)
    netloc = f"[{host}]" if ":" in host else host
    if port != _DEFAULT_PORTS[scheme]:
        netloc = f"{netloc}:{port}"
    is_internal = address is None and is_internal_name(host)
    return Target(f"{scheme}://{netloc}{resource}", scheme, host, port, resource, address, is_internal)


def parse_host(host: str, port: int) -> Target:
    """Parse a server's host without a URL, for a protocol other than HTTP. Raises TargetRefused."""
    _check_characters(host)
    name, address = _read_host(host)
    return Target("", "", name, port, "", address, address is None and is_internal_name(name))


def _check_characters(url: str) -> None:
    """Refuse a URL that is too long, or has characters that parsers read differently."""
    if len(url) > LONGEST_URL:
        raise TargetRefused(f"The URL may not be longer than {LONGEST_URL} characters.")
    if any(unicodedata.category(character) in _BLANK for character in url):
        raise TargetRefused("The URL may not contain blanks or control characters.")
    if any(unicodedata.category(character) == "Cs" for character in url):
        raise TargetRefused("The URL contains characters that are not valid.")
    if "\\" in url:
        raise TargetRefused("The URL may not contain a backslash.")
    if "#" in url:
        raise TargetRefused("The URL may not contain a fragment (#).")


def _read_host(host: str) -> tuple[str, str | None]:
    """Return the host, and its address if it is one."""
    try:
        if host.startswith("["):
            address = canonical(host[1:-1])
            if ":" not in address:
                raise HostInvalid
            return address, address
        name = ascii_host(host)
        return name, canonical(name) if is_plain_ipv4(name) else None
    except ValueError as error:
        raise TargetRefused(INVALID_HOST) from error


def _read_port(text: str) -> int:
    if _PORT.fullmatch(text):
        port = int(text)
        if port in (80, 443) or 1024 <= port <= 65535:
            return port
    raise TargetRefused("The URL's port must be 80, 443 or one from 1024 to 65535.")
