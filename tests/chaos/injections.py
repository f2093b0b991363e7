"""The faults that a scenario plans, and those that it really brought about."""

from collections import Counter
from collections.abc import Iterable


class Injections:
    """A fault counts once it was seen to have happened, and only while the system was at work."""

    def __init__(self) -> None:
        self.planned: Counter[str] = Counter()
        self.injected: Counter[str] = Counter()

    def plan(self, kinds: Iterable[str]) -> None:
        self.planned.update(kinds)

    def count(self, kind: str, *, happened: bool = True) -> None:
        self.injected[kind] += happened

    @property
    def done(self) -> int:
        """How many of the planned ones were brought about; more of one kind make up for none of another."""
        return sum(min(count, self.injected[kind]) for kind, count in self.planned.items())

    @property
    def missing(self) -> list[str]:
        return [f"no {kind}" for kind, count in self.planned.items() if self.injected[kind] < count]
