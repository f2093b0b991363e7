"""What the clients were told, and therefore what has to arrive where."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Key(NamedTuple):
    """What an event is about: its name, and a text that no other event of this name has in its data."""

    event: str
    subject: str


@dataclass(frozen=True)
class Subscriber:
    """An endpoint as its owner knows it. `owner` is the field of the envelope that names the owner, and its value."""

    number: int
    path: str
    secret: str
    events: frozenset[str]
    owner: tuple[str, int | str]
    uuid: str = ""


@dataclass
class Expectation:
    """A change that a client asked for, and the endpoints that its event goes to.

    It is certain once the client was told so: then exactly one event comes. Before that, and where the answer was
    lost, one may come. `data` is what the event has to say.
    """

    key: Key
    endpoints: tuple[int, ...]
    asked_at: float
    told_at: float | None = None
    data: dict[str, object] = field(default_factory=dict)

    @property
    def is_certain(self) -> bool:
        return self.told_at is not None


class Expectations:
    """All of a scenario's; used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[Key, Expectation] = {}
        self.subscribers: dict[str, Subscriber] = {}
        self._by_owner: dict[tuple[str, int | str], list[Subscriber]] = defaultdict(list)

    def subscribe(self, subscriber: Subscriber) -> None:
        self.subscribers[subscriber.path] = subscriber
        self._by_owner[subscriber.owner].append(subscriber)

    def receivers_of(self, owner: tuple[str, int | str], event: str) -> tuple[int, ...]:
        """The endpoints of an owner that are subscribed to an event."""
        return tuple(one.number for one in self._by_owner[owner] if event in one.events)

    def ask(self, key: Key, owner: tuple[str, int | str], **data: object) -> Expectation:
        """Say what is about to be asked for."""
        made = Expectation(key, self.receivers_of(owner, key.event), time.monotonic(), data=data)
        with self._lock:
            self._all[key] = made
        return made

    def ask_many(self, keys: Iterable[Key], owner: tuple[str, int | str]) -> list[Expectation]:
        return [self.ask(key, owner) for key in keys]

    def forget(self, made: Iterable[Expectation]) -> None:
        """Say that these were never asked for."""
        with self._lock:
            for one in made:
                del self._all[one.key]

    def tell(self, made: Iterable[Expectation]) -> None:
        """Say that these were answered with success."""
        now = time.monotonic()
        for one in made:
            one.told_at = one.told_at or now

    def tell_at_endpoint(self, key: Key, number: int) -> None:
        """Expect something at one endpoint alone, as a test."""
        now = time.monotonic()
        with self._lock:
            self._all[key] = Expectation(key, (number,), now, told_at=now)

    def get(self, key: Key) -> Expectation | None:
        return self._all.get(key)

    def all(self) -> list[Expectation]:
        with self._lock:
            return list(self._all.values())
