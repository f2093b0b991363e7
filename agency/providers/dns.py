"""What the DNS says of a host: the texts at its verification name, and its addresses."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

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
    # The library is large, and few processes ever look anything up.
    from agency.providers.name_servers import look_up_all

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="dns") as pool:
        return pool.submit(lambda: asyncio.run(look_up_all(list(names)))).result()
