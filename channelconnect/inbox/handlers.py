"""Who applies what callbacks tell: one handler for each type of fact, from the app that owns the effect."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from channelconnect.providers.notices import Fact
from config.hooks import Registry


class Apply(Protocol):
    """Applies any number of facts inside the caller's transaction, each of them once, however often it comes."""

    def __call__(self, facts: Sequence[Any], /, *, now: datetime) -> object: ...


Lock = Callable[[Collection[int]], object]


@dataclass(frozen=True, slots=True)
class FactHandler:
    """`kind` is the type of the facts, itself and no subclass of it.

    `lock` is called before any facts of a batch are applied, with the ids of all channels that the batch is about. What
    it locks keeps two readers from waiting for each other in a circle; handlers that share one lock once.
    """

    kind: type
    apply: Apply
    lock: Lock | None = None

    @property
    def name(self) -> str:
        return self.kind.__name__


# In the order in which the types of a batch are applied: who a person is comes before what they wrote, a message before
# what happens to it, and what was written before how far it was read. What nobody has registered is left alone.
fact_handlers = Registry[FactHandler]("handlers of facts")


def gathered(facts: Iterable[Fact]) -> dict[type, list[Fact]]:
    """Give the facts by their types, each in its order."""
    by_type: defaultdict[type, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_type[type(fact)].append(fact)
    return by_type


def apply_facts(
    facts: dict[type, list[Fact]], *, handlers: Iterable[FactHandler], channels: Collection[int], now: datetime
) -> None:
    """Lock once what the handlers of these facts need, then have them applied in the handlers' order."""
    needed = [handler for handler in handlers if handler.kind in facts]
    for lock in dict.fromkeys(handler.lock for handler in needed if handler.lock):
        lock(channels)
    for handler in needed:
        handler.apply(facts[handler.kind], now=now)
