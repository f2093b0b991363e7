"""The guard: which URLs may be called. It runs when an endpoint is saved, tested and delivered to."""

import re
import socket
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import quote

import idna

# Python's own `is_private` and `is_global` differ between patch releases, so the blocks are listed here.

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# The special-purpose registry of RFC 6890, and more addresses at which clouds answer.
_NOT_PUBLIC_IPV4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT, some clouds' metadata in it
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host services
        "169.254.0.0/16",  # link-local, most clouds' metadata in it
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
    )
)
# Global unicast; NAT64, mapped, compatible, SIIT, link-local and multicast addresses all lie outside.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_NOT_PUBLIC_IPV6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID, drone identities
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def parse_address(text: str) -> Address:
    """Parse an address. Raises ValueError for anything else, and for an address with a zone."""
    if "%" in text:
        raise ValueError("An address with a zone belongs to one link.")
    return ip_address(text)


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Return the operating system's spelling of an address. Raises ValueError for anything else."""
    address = parse_address(text)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return socket.inet_ntop(family, address.packed)


@lru_cache(maxsize=8192)
def is_public(text: str) -> bool:
    """Return whether anybody on the internet could reach an address; False for anything that is not an address.

    IPv6 addresses that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) are never public.
    """
    try:
        address = parse_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _NOT_PUBLIC_IPV4)
    return address in _PUBLIC_IPV6 and not any(address in block for block in _NOT_PUBLIC_IPV6)


def is_allowed(text: str, networks: Iterable[Network]) -> bool:
    """Return whether an address lies in one of `networks`. An IPv4-mapped address counts as its IPv4 address."""
    address = parse_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in networks)


_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_LAST_LABEL_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IPV4 = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
_LONGEST_NAME = 253

# Top-level names reserved from the public tree, or never delegated because internal networks use them.
_INTERNAL_NAMES = frozenset(
    {
        *("alt", "arpa", "consul", "corp", "example", "home", "internal", "intranet", "invalid", "lan"),
        *("local", "localdomain", "localhost", "mail", "onion", "private", "svc", "test", "workgroup"),
    }
)


class HostInvalid(ValueError):
    """The host is neither a well-formed name nor a plainly written address."""


def is_plain_ipv4(host: str) -> bool:
    """Return whether a host is four decimal numbers without leading zeros. Their size is not checked."""
    return _IPV4.fullmatch(host) is not None


def ascii_host(host: str) -> str:
    """Return the host in lower-case ASCII without the root's dot, or a plain IPv4 address as it is.

    Raises HostInvalid, also for addresses in any other spelling (short, decimal, octal, hexadecimal, in foreign
    digits), because programs read these differently.
    """
    if is_plain_ipv4(host):
        return host
    name = _to_ascii(host).removesuffix(".")
    labels = name.split(".")
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise HostInvalid
    if _LAST_LABEL_NUMBER.fullmatch(labels[-1]):
        raise HostInvalid
    return name


def is_internal_name(name: str) -> bool:
    """Return whether a name has no meaning in public DNS: a single label, or below a special-use name."""
    top = name.rpartition(".")[2]
    return top == name or top in _INTERNAL_NAMES


def _to_ascii(host: str) -> str:
    name = unicodedata.normalize("NFKC", host).lower()
    if name.isascii() and "xn--" not in name:
        return name
    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise HostInvalid from error


# The sender connects to exactly what was read here.

LONGEST_URL = 2048
_DEFAULT_PORTS = {"http": 80, "https": 443}
_ABSOLUTE = re.compile(r"(https?)://([^/?]*)(.*)", re.IGNORECASE | re.ASCII)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::(.*))?")
_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_BLANK = frozenset({"Cc", "Zs", "Zl", "Zp"})
# Everything that RFC 3986 allows in a path and a query, and percent signs that are there already.
_KEPT_IN_RESOURCE = "!$%&'()*+,/:;=?@[]|~"

INVALID_HOST = "The URL's host name is not valid."


class URLRefused(ValueError):
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
    """Parse a URL. Raises URLRefused. This does not check where the URL leads."""
    _check_characters(url)
    parts = _ABSOLUTE.fullmatch(url)
    if parts is None:
        raise URLRefused("The URL must start with https:// or http://.")
    scheme, authority, resource = parts[1].lower(), parts[2], parts[3]
    if "@" in authority:
        raise URLRefused("The URL may not contain a user name or a password.")
    named = _AUTHORITY.fullmatch(authority)
    if named is None:
        raise URLRefused(INVALID_HOST)
    host, address = _read_host(named[1])
    port = _DEFAULT_PORTS[scheme] if named[2] is None else _read_port(named[2])
    resource = quote(resource if resource.startswith("/") else f"/{resource}", safe=_KEPT_IN_RESOURCE)
    netloc = f"[{host}]" if ":" in host else host
    if port != _DEFAULT_PORTS[scheme]:
        netloc = f"{netloc}:{port}"
    is_internal = address is None and is_internal_name(host)
    return Target(f"{scheme}://{netloc}{resource}", scheme, host, port, resource, address, is_internal)


def parse_host(host: str, port: int) -> Target:
    """Parse a server's host without a URL, for a protocol other than HTTP. Raises URLRefused."""
    _check_characters(host)
    name, address = _read_host(host)
    return Target("", "", name, port, "", address, address is None and is_internal_name(name))


def _check_characters(url: str) -> None:
    """Refuse a URL that is too long, or has characters that parsers read differently."""
    if len(url) > LONGEST_URL:
        raise URLRefused(f"The URL may not be longer than {LONGEST_URL} characters.")
    if any(unicodedata.category(character) in _BLANK for character in url):
        raise URLRefused("The URL may not contain blanks or control characters.")
    if any(unicodedata.category(character) == "Cs" for character in url):
        raise URLRefused("The URL contains characters that are not valid.")
    if "\\" in url:
        raise URLRefused("The URL may not contain a backslash.")
    if "#" in url:
        raise URLRefused("The URL may not contain a fragment (#).")


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
        raise URLRefused(INVALID_HOST) from error


def _read_port(text: str) -> int:
    if _PORT.fullmatch(text):
        port = int(text)
        if port in (80, 443) or 1024 <= port <= 65535:
            return port
    raise URLRefused("The URL's port must be 80, 443 or one from 1024 to 65535.")


# One text for every refused host, so that answers do not map the inside of a network.
UNREACHABLE_HOST = "The URL's host must be publicly reachable."
NO_ADDRESS = "The URL's host has no address right now."


class VettedTarget(NamedTuple):
    """A target and the addresses at which it may be reached: at least one, and each was checked."""

    target: Target
    addresses: tuple[str, ...]


def check_addresses(target: Target, addresses: Sequence[str], *, allowed: Sequence[Network] = ()) -> VettedTarget:
    """Accept a target with the addresses of its name, or raise URLRefused.

    Every address must be public or in an allowed network. For a name that means nothing in public DNS, all addresses
    must be in allowed networks.
    """
    try:
        spelled = tuple(dict.fromkeys(canonical(address) for address in addresses))
    except ValueError as error:
        raise URLRefused(UNREACHABLE_HOST) from error
    if not spelled:
        raise URLRefused(NO_ADDRESS)
    if not all(_passes(address, target, allowed) for address in spelled):
        raise URLRefused(UNREACHABLE_HOST)
    return VettedTarget(target, spelled)


def check_without_lookup(target: Target, *, allowed: Sequence[Network] = ()) -> VettedTarget | None:
    """Check what needs no name server; None for a name that must be looked up.

    Raises URLRefused. Internal names are looked up only if the installation allows networks.
    """
    if target.address is not None:
        return check_addresses(target, [target.address], allowed=allowed)
    if target.is_internal and not allowed:
        raise URLRefused(UNREACHABLE_HOST)
    return None


def check_url(url: str, *, allowed: Sequence[Network] = (), resolve: Callable[[str], Sequence[str]]) -> VettedTarget:
    """Parse a URL, look its host up if it is a name, and check the addresses.

    Raises URLRefused, and whatever `resolve` raises if the look-up fails.
    """
    return check_target(parse_target(url), allowed=allowed, resolve=resolve)


def check_target(
    target: Target, *, allowed: Sequence[Network] = (), resolve: Callable[[str], Sequence[str]]
) -> VettedTarget:
    """Look a target's host up if it is a name, and check the addresses. Raises the same as `check_url`."""
    at_sight = check_without_lookup(target, allowed=allowed)
    return at_sight or check_addresses(target, resolve(target.host), allowed=allowed)


def _passes(address: str, target: Target, allowed: Sequence[Network]) -> bool:
    if not target.is_internal and is_public(address):
        return True
    return bool(allowed) and is_allowed(address, allowed)
