"""Who applies what callbacks tell: handlers for each type of fact, from the apps that own the effects."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from channelconnect.providers.notices import Fact
from config.hooks import Registry


class FactsInTheWay(Exception):
    """Others were in the way of facts that are to be applied: the same reading may succeed in a moment."""


class Apply(Protocol):
    """Applies any number of facts inside the caller's transaction, each of them once, however often it comes."""

    def __call__(self, facts: Sequence[Any], /, *, now: datetime) -> object: ...


Lock = Callable[[Collection[int]], object]


@dataclass(frozen=True, slots=True)
class FactHandler:
    """`kind` is the type of the facts, itself and no subclass of it; `owner` the app whose handler of them it is.

    A message of ours carries an `opaque` id of its owner's. Facts about ids that begin with a handler's `opaque` are
    that handler's alone; those without one get all others of their kind.

    `lock` is called before any facts of a batch are applied, with the ids of all channels that the batch is about. What
    it locks keeps two readers from waiting for each other in a circle; handlers that share one lock once.
    """

    kind: type
    apply: Apply
    lock: Lock | None = None
    owner: str = ""
    opaque: str = ""

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.kind.__name__}" if self.owner else self.kind.__name__


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
    everybody = list(handlers)
    needed = [(one, found) for one in everybody if (found := _facts_of(one, facts.get(one.kind), everybody))]
    for lock in dict.fromkeys(handler.lock for handler, _ in needed if handler.lock):
        lock(channels)
    for handler, found in needed:
        handler.apply(found, now=now)


def _facts_of(handler: FactHandler, facts: list[Fact] | None, everybody: Iterable[FactHandler]) -> list[Fact] | None:
    """Give those that are this handler's."""
    if not facts:
        return None
    if handler.opaque:
        return [fact for fact in facts if fact.opaque.startswith(handler.opaque)]  # type: ignore[union-attr]
    taken = tuple(one.opaque for one in everybody if one.kind is handler.kind and one.opaque)
    if not taken:
        return facts
    return [fact for fact in facts if not fact.opaque.startswith(taken)]  # type: ignore[union-attr]
