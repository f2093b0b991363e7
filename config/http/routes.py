"""Where libcurl connects to, said in its own options."""

from functools import lru_cache
from hashlib import blake2s
from typing import NamedTuple


class Route(NamedTuple):
    """The values of CONNECT_TO and RESOLVE that lead to vetted addresses and nowhere else."""

    connect_to: list[str]
    resolve: list[str]


@lru_cache(maxsize=4096)
def route_to(addresses: tuple[str, ...], port: int) -> Route:
    """The way to a set of addresses.

    libcurl keeps connections by the name that it connected to, not by address; pinning the URL's own name
    would let a kept connection to an earlier address be used again. So it connects to the address itself,
    or, where there are several to try, to a name made of them that exists nowhere else. The URL's name
    remains what the certificate and the Host header are about.
    """
    spelled = [f"[{address}]" if ":" in address else address for address in addresses]
    if len(spelled) == 1:
        return Route([f"::{spelled[0]}:"], [])
    name = f"{blake2s(' '.join(sorted(spelled)).encode(), digest_size=16).hexdigest()}.invalid"
    # With the plus sign the entry ages out of libcurl's table, which would grow for ever otherwise.
    return Route([f"::{name}:"], [f"+{name}:{port}:{','.join(spelled)}"])
