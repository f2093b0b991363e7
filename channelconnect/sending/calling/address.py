"""The provider's address: its name is looked up beside the loop, and remembered for seconds."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from config.http.guard import VettedTarget, canonical, parse_target
from config.http.resolver import Addresses, LookupFailed, Resolver

REMEMBER_SECONDS: Final = 5.0


class ProviderAddress:
    """The addresses of one host. Only the loop's thread uses it; another thread calls `on_answer`."""

    def __init__(self, url: str, on_answer: Callable[[], None]) -> None:
        self._target = parse_target(f"{url}/")
        self._on_answer = on_answer
        self._resolver = Resolver(ttl_s=REMEMBER_SECONDS)
        self._answer: Future[Addresses] | None = None

    def find(self) -> Addresses | None:
        """Return the addresses, or None while the look-up runs. Raises `LookupFailed`."""
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
    """Return a URL of the provider with its addresses. The installation configures it, so any address is allowed."""
    return VettedTarget(parse_target(url), tuple(map(canonical, addresses)))
