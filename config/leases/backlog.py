"""A worker's view of the rows that wait in a table: which keys have rows, where to go on in each, and whose turn it is.

The rows of a key (an endpoint's deliveries, a tenant's events) are ordered by `(position, id)`. `position` is the
transaction that wrote the row. A key is known from the look that first saw one of its rows until none is left.
Everything can be read anew at any time: a backlog says where to look, never what is there.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

from config.leases.connection import Connection
from config.leases.transactions import ReadTransactions
from config.leases.turns import Path, Turns

LOOK_LIMIT = 10_000
PAGE = 1_000
# Everything is read anew this often, for rows that were locked, or deleted by a transaction that did not commit.
RESCAN_SECONDS = 20.0


class Place(NamedTuple):
    """The place in a key's rows after which to go on."""

    position: int
    id: int


class Waiting(NamedTuple):
    """A key's path in the turns, and the transaction of the first of its rows that a look saw."""

    path: Path
    position: int


class Look(NamedTuple):
    """The result of a look at new rows: its snapshot, and whether there is more than its limit."""

    snapshot: str
    waiting: list[Waiting]
    has_more: bool


class Backlog(ABC):
    """The waiting rows of a table. Subclasses look for new rows and for all rows, and say which keys are theirs."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.places: dict[Path, Place] = {}
        self._transactions = ReadTransactions()
        self._rescanned_at: float | None = None

    @abstractmethod
    def look_for_new(self, connection: Connection, unread: dict[str, int | str], limit: int) -> Look:
        """Look at rows that no earlier look has seen."""

    @abstractmethod
    def look_at_page(self, connection: Connection, after: Path | None, page: int) -> list[Waiting]:
        """Look at the keys that come after a key, or at the first keys."""

    @abstractmethod
    def is_ours(self, path: Path) -> bool:
        """Return whether this worker serves the key."""

    def forget(self) -> None:
        """Forget everything. The next refresh reads it all anew."""
        self.turns.clear()
        self.places.clear()
        self._transactions = ReadTransactions()
        self._rescanned_at = None

    def refresh(self, connection: Connection) -> bool:
        """Look for new rows. Returns whether everything was read anew."""
        if self._rescanned_at is not None and time.monotonic() - self._rescanned_at < RESCAN_SECONDS:
            look = self.look_for_new(connection, self._transactions.unread(), LOOK_LIMIT)
            self._transactions.advance(look.snapshot)
            self._add(look.waiting)
            if not look.has_more:
                return False
        self.rescan(connection)
        return True

    def rescan(self, connection: Connection) -> None:
        """Read all that waits, page by page."""
        # Rows that arrive while the pages are read are new to the next look.
        self._transactions.begin(connection)
        after: Path | None = None
        found: dict[Path, Place] = {}
        while page := self.look_at_page(connection, after, PAGE):
            found |= {one.path: _before(one.position) for one in page if self.is_ours(one.path)}
            after = page[-1].path
        for path in self.places.keys() - found.keys():
            self.turns.remove(path)
        self.places = found
        for path in found:
            self.turns.add(path)
        self._rescanned_at = time.monotonic()

    def _add(self, waiting: Iterable[Waiting]) -> None:
        for path, position in waiting:
            if self.is_ours(path):
                known = self.places.get(path)
                self.places[path] = min(known, _before(position)) if known else _before(position)
                if known is None:
                    self.turns.add(path)

    def drop_foreign(self) -> None:
        """Forget the keys that this worker no longer serves."""
        for path in [path for path in self.places if not self.is_ours(path)]:
            self.finish(path)

    def go_on(self, path: Path, place: Place) -> None:
        """Record that rows of a key up to this place were taken, and that the key had its turn."""
        self.places[path] = place
        self.turns.end_turn(path)

    def finish(self, path: Path) -> None:
        """Record that no rows of a key are left."""
        del self.places[path]
        self.turns.remove(path)


def _before(position: int) -> Place:
    """Return the place before all rows of a transaction."""
    return Place(position, -(2**62))
