"""libcurl options that fix the addresses to which it connects."""

from functools import lru_cache
from hashlib import blake2s
from typing import NamedTuple


class Route(NamedTuple):
    """The values of CONNECT_TO and RESOLVE that lead only to vetted addresses."""

    connect_to: list[str]
    resolve: list[str]


@lru_cache(maxsize=4096)
def route_to(addresses: tuple[str, ...], port: int) -> Route:
    """Return the route to a set of addresses.

    libcurl keeps connections by the name that it connected to, not by address. If the URL's own name were pinned, a
    kept connection to an earlier address could be used again. So libcurl connects to the address itself. If there are
    several addresses, it connects to a name made of them that exists nowhere else. The certificate and the Host header
    are still about the URL's name.
    """
    spelled = [f"[{address}]" if ":" in address else address for address in addresses]
    if len(spelled) == 1:
        return Route([f"::{spelled[0]}:"], [])
    name = f"{blake2s(' '.join(sorted(spelled)).encode(), digest_size=16).hexdigest()}.invalid"
    # The plus sign lets the entry expire. Otherwise libcurl's table would grow for ever.
    return Route([f"::{name}:"], [f"+{name}:{port}:{','.join(spelled)}"])
