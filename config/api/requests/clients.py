"""The address that a request comes from, without believing the caller."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest

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


def _hops(environ: Mapping[str, Any]) -> Iterator[Address | None]:
    """Return the entries of X-Forwarded-For, nearest first."""
    entries = environ.get("HTTP_X_FORWARDED_FOR", "").rsplit(",", MOST_HOPS)[-MOST_HOPS:]
    return (parse_address(entry) for entry in reversed(entries) if entry.strip())


def is_trusted_peer(address: str) -> bool:
    """Return whether the socket's peer is a proxy that the installation trusts."""
    peer = parse_address(address)
    return peer is not None and _is_trusted(peer)


def comes_from_a_proxy(request: HttpRequest) -> bool:
    return is_trusted_peer(request.META.get("REMOTE_ADDR", ""))


def client_address(request: HttpRequest) -> Address | None:
    """Return the socket's peer, or behind trusted proxies the nearest address that is not a trusted proxy."""
    return client_address_of(request.META)


def client_address_of(environ: Mapping[str, Any]) -> Address | None:
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
def address_bucket_of(address: Address | None) -> str:
    """Return the name that an address is counted under: itself, or for IPv6 the /64 that a host has at its disposal."""
    if address is None:
        return UNKNOWN
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))
