"""What the DNS says of a host: the texts at its verification name, and its addresses."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from django.conf import settings

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver

MOST_KEPT: Final = 5
LONGEST_TEXT: Final = 255


@dataclass(frozen=True, slots=True)
class HostRecords:
    """`texts` and `addresses` are None if no name server answered; an empty tuple means that there are none.

    `points_here` says whether an address is the installation's, None if the host's addresses or the installation's are
    unknown.
    """

    texts: tuple[str, ...] | None
    addresses: tuple[str, ...] | None = None
    points_here: bool | None = None


def look_up_hosts(names: Iterable[tuple[str, str]]) -> list[HostRecords]:
    """Look up several hosts at once, each with its verification name, in the same order. Never in a transaction.

    The event loop runs in its own thread, as the caller's thread may run one already.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="dns") as pool:
        return pool.submit(lambda: asyncio.run(look_up_all(list(names)))).result()


# All look-ups of a batch are made at once, so a batch takes at most this long.
DEADLINE_SECONDS: Final = 4.0
TIMEOUT_SECONDS: Final = 1.5


async def look_up_all(names: list[tuple[str, str]]) -> list[HostRecords]:
    """Look up several hosts at once, each with its verification name, in the same order."""
    resolver = _resolver()
    ours, texts, addresses = await asyncio.gather(
        _installations_addresses(resolver),
        asyncio.gather(*(_texts(resolver, name) for _, name in names)),
        asyncio.gather(*(_addresses(resolver, host) for host, _ in names)),
    )
    return [HostRecords(said, led, _points_to(led, ours)) for said, led in zip(texts, addresses, strict=True)]


# The DNS library is large, and few processes ever look anything up. The functions that need it import it.


def _resolver() -> "Resolver":
    from dns.asyncresolver import Resolver
    from dns.nameserver import Do53Nameserver

    resolver = Resolver(configure=not settings.DNS_SERVERS)
    if settings.DNS_SERVERS:
        resolver.nameservers = [Do53Nameserver(address, port) for address, port in settings.DNS_SERVERS]
    resolver.timeout, resolver.lifetime = TIMEOUT_SECONDS, DEADLINE_SECONDS
    resolver.cache = None
    resolver.search = []
    return resolver


async def _rows(resolver: "Resolver", name: str, kind: str) -> "list[object] | None":
    """Return the records of one kind; an empty list if there are none, None if no name server answers."""
    from dns.exception import DNSException
    from dns.resolver import NXDOMAIN, NoAnswer

    try:
        return list(await resolver.resolve(f"{name}.", kind))
    except (NXDOMAIN, NoAnswer):
        return []
    except (DNSException, OSError):
        return None


async def _texts(resolver: "Resolver", name: str) -> tuple[str, ...] | None:
    from dns.rdtypes.txtbase import TXTBase

    rows = await _rows(resolver, name, "TXT")
    if rows is None:
        return None
    texts = [b"".join(row.strings).decode("ascii", "replace") for row in rows if isinstance(row, TXTBase)]
    return tuple(sorted(text.replace("\0", "\ufffd") for text in texts))


async def _addresses(resolver: "Resolver", host: str) -> tuple[str, ...] | None:
    found = await asyncio.gather(*(_rows(resolver, host, kind) for kind in ("A", "AAAA")))
    rows = [row for some in found if some is not None for row in some]
    if not rows and None in found:
        return None
    return tuple(sorted(str(ip_address(str(row))) for row in rows))


async def _installations_addresses(resolver: "Resolver") -> frozenset[str]:
    """Return the addresses to which a host must point: those in the settings, and those of `DOMAIN_TARGET`."""
    named = frozenset(settings.DOMAIN_ADDRESSES)
    return named | frozenset(await _addresses(resolver, settings.DOMAIN_TARGET) or ())


def _points_to(addresses: tuple[str, ...] | None, ours: frozenset[str]) -> bool | None:
    if addresses is None or not ours:
        return None
    return not ours.isdisjoint(addresses)
