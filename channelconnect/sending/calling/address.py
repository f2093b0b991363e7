"""Where the provider is: its name looked up beside the loop, and remembered for seconds."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from config.http.addresses import canonical
from config.http.guard import VettedTarget
from config.http.lookups import LookupFailed
from config.http.resolver import Addresses, Resolver
from config.http.targets import parse_target

REMEMBER_SECONDS: Final = 5.0


class ProviderAddress:
    """The addresses of one host. Only the thread of the loop uses it; `on_answer` is called by another."""

    def __init__(self, url: str, on_answer: Callable[[], None]) -> None:
        self._target = parse_target(f"{url}/")
        self._on_answer = on_answer
        self._resolver = Resolver(ttl_s=REMEMBER_SECONDS)
        self._answer: Future[Addresses] | None = None

    def find(self) -> Addresses | None:
        """Give the addresses; None while they are looked up. Raises `LookupFailed`."""
        if self._target.address is not None:
            return (self._target.address,)
        known = self._resolver.remembered(self._target.host)
        if known is not None:
            return known
        if self._answer is None:
            self._answer = self._resolver.submit(self._target.host)
            self._answer.add_done_callback(lambda _: self._on_answer())
        if not self._answer.done():
            return None
        answer, self._answer = self._answer, None
        found = answer.result(timeout=0)
        if not found:
            raise LookupFailed
        return found

    def close(self) -> None:
        self._resolver.close()


def way_to(url: str, addresses: Addresses) -> VettedTarget:
    """A URL of the provider, and where that is: the installation names it, so whatever address it has is meant."""
    return VettedTarget(parse_target(url), tuple(map(canonical, addresses)))
