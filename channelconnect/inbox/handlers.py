"""The registry of handlers that apply callbacks' facts, each in the app that owns the effects."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from channelconnect.providers.notices import Fact
from config.hooks import Registry


class FactsInTheWay(Exception):
    """Other transactions hold rows that these facts need. The same reading may succeed in a moment."""


class Apply(Protocol):
    """Applies any number of facts inside the caller's transaction. A fact that comes again has no further effect."""

    def __call__(self, facts: Sequence[Any], /, *, now: datetime) -> object: ...


Lock = Callable[[Collection[int]], object]


@dataclass(frozen=True, slots=True)
class FactHandler:
    """Handles facts of one type. `kind` is exactly that type, without subclasses; `owner` is the app of the handler.

    An outgoing message carries an `opaque` id made by its owner. Facts about ids that begin with a handler's `opaque`
    go to that handler alone. Handlers without `opaque` get all other facts of their kind.

    `lock` is called with the ids of all channels in the batch, before any fact is applied. Its locks keep two readers
    from a deadlock. Handlers that share a `lock` call it once.
    """

    kind: type
    apply: Apply
    lock: Lock | None = None
    owner: str = ""
    opaque: str = ""

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.kind.__name__}" if self.owner else self.kind.__name__


# Types of facts are applied in the registry's order: a person's identity before their messages, a message before its
# changes, and messages before the marks of how far they were read. A type without a handler is ignored.
fact_handlers = Registry[FactHandler](
    "handlers of facts",
    called=(
        "`apply_facts` calls the locks and then `apply` of each, in the order of the apps, for each batch of callbacks"
    ),
    transaction="the caller's, one for each batch",
    failure="rolls the batch back; its callbacks are read again in smaller batches, at last each alone",
)


def gathered(facts: Iterable[Fact]) -> dict[type, list[Fact]]:
    """Group facts by type, each group in the facts' order."""
    by_type: defaultdict[type, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_type[type(fact)].append(fact)
    return by_type


def apply_facts(
    facts: dict[type, list[Fact]], *, handlers: Iterable[FactHandler], channels: Collection[int], now: datetime
) -> None:
    """Take each lock that the handlers of these facts need once, then apply the facts in the handlers' order."""
    everybody = list(handlers)
    needed = [(one, found) for one in everybody if (found := _facts_of(one, facts.get(one.kind), everybody))]
    for lock in dict.fromkeys(handler.lock for handler, _ in needed if handler.lock):
        lock(channels)
    for handler, found in needed:
        handler.apply(found, now=now)


def _facts_of(handler: FactHandler, facts: list[Fact] | None, everybody: Iterable[FactHandler]) -> list[Fact] | None:
    """Return the facts that belong to this handler."""
    if not facts:
        return None
    if handler.opaque:
        return [fact for fact in facts if fact.opaque.startswith(handler.opaque)]  # type: ignore[union-attr]
    taken = tuple(one.opaque for one in everybody if one.kind is handler.kind and one.opaque)
    if not taken:
        return facts
    return [fact for fact in facts if not fact.opaque.startswith(taken)]  # type: ignore[union-attr]
