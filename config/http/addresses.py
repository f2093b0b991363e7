"""Which addresses are on the public internet.

Python's own `is_private` and `is_global` differ between patch releases, so the blocks are listed here.
"""

import socket
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

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
