"""Which addresses lie on the public internet.

Python's own `is_private` and `is_global` differ between patch releases, so the blocks are listed here.
"""

import socket
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# The special-purpose registry of RFC 6890, and where clouds answer besides.
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
    """The address that `text` spells; ValueError for none, and for one with a zone."""
    if "%" in text:
        raise ValueError("An address with a zone belongs to one link.")
    return ip_address(text)


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """The spelling that the operating system gives an address; ValueError for what is none."""
    address = parse_address(text)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return socket.inet_ntop(family, address.packed)


@lru_cache(maxsize=8192)
def is_public(text: str) -> bool:
    """Whether an address is one that anybody on the internet could reach; False for what is none.

    IPv6 addresses that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) never are.
    """
    try:
        address = parse_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _NOT_PUBLIC_IPV4)
    return address in _PUBLIC_IPV6 and not any(address in block for block in _NOT_PUBLIC_IPV6)


def is_allowed(text: str, networks: Iterable[Network]) -> bool:
    """Whether an address lies in one of `networks`; an IPv4-mapped one counts as the IPv4 address in it."""
    address = parse_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in networks)
