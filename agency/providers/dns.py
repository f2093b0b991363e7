"""What the DNS says of a host: the texts at its verification name, and the addresses that it leads to."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

MOST_KEPT: Final = 5
LONGEST_TEXT: Final = 255


@dataclass(frozen=True, slots=True)
class HostRecords:
    """`texts` and `addresses` are None where no name server gave an answer; an empty tuple says that there is nothing.

    `points_here` says whether an address is the installation's, None when either is not known.
    """

    texts: tuple[str, ...] | None
    addresses: tuple[str, ...] | None = None
    points_here: bool | None = None


def look_up_hosts(names: Iterable[tuple[str, str]]) -> list[HostRecords]:
    """Look several up at once, each a host and its verification name, in the same order. Never in a transaction.

    The event loop has a thread of its own: the caller's may have one that runs already.
    """
    # Its library is large, and few processes ever ask.
    from agency.providers.name_servers import look_up_all

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="dns") as pool:
        return pool.submit(lambda: asyncio.run(look_up_all(list(names)))).result()
