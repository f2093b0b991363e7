"""Who applies what callbacks tell: one handler for each type of fact, from the app that owns the effect."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from channelconnect.providers.notices import Fact
from config.hooks import Registry


class Apply(Protocol):
    """Applies any number of facts inside the caller's transaction, each of them once, however often it comes.

    Rows are locked in an order that is the same for all calls, so that readers that meet do not wait for each other in
    a circle.
    """

    def __call__(self, facts: Sequence[Any], /, *, now: datetime) -> object: ...


@dataclass(frozen=True, slots=True)
class FactHandler:
    """`kind` is the type of the facts, itself and no subclass of it."""

    kind: type
    apply: Apply

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


def apply_facts(facts: dict[type, list[Fact]], *, now: datetime, handlers: Callable[[], Iterable[FactHandler]]) -> None:
    for handler in handlers():
        of_kind = facts.get(handler.kind)
        if of_kind:
            handler.apply(of_kind, now=now)
