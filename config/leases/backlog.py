"""A worker's view of the rows that wait in a table: which keys have rows, where to go on, and whose turn it is.

The rows of a key (an endpoint's deliveries, a tenant's events) are ordered by `(position, id)`. `position` is the
transaction that wrote the row. A key is known from the look that first saw one of its rows until none is left.
Everything can be read anew at any time: a backlog says where to look, never what is there.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from config.leases.connections import Connection
from config.postgresql.arrays import integers

Path = tuple[int, ...]


class RoundRobin:
    """The leaves of a tree of groups, such as (agency, tenant, endpoint). A path is the numbers that lead to a leaf.

    A leaf that has had its turn goes behind all its siblings, and so does each group that it is in.
    """

    def __init__(self) -> None:
        self._children: dict[int, RoundRobin] = {}

    def add(self, path: Path) -> None:
        """Add a leaf behind its siblings. A leaf that is there already keeps its turn."""
        node = self
        for number in path:
            node = node._children.setdefault(number, RoundRobin())

    def remove(self, path: Path) -> None:
        """Remove a leaf."""
        child = self._children.get(path[0])
        if child is not None and len(path) > 1:
            child.remove(path[1:])
        if child is None or not child._children:
            self._children.pop(path[0], None)

    def clear(self) -> None:
        self._children.clear()

    def end_turn(self, path: Path) -> None:
        """Put a leaf, and each group that it is in, behind its siblings."""
        child = self._children.get(path[0])
        if child is not None:
            self._children[path[0]] = self._children.pop(path[0])
            if len(path) > 1:
                child.end_turn(path[1:])

    def in_turn(self, *, most_of_each: int, is_skipped: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
        """Yield leaves: one of each group on the highest level, then a second of each, and so on down the tree.

        At most `most_of_each` come from each group on the highest level. A skipped group or leaf costs no other its
        turn. Nothing may be added or removed meanwhile.
        """
        return _one_of_each(
            islice(child._leaves((number,), is_skipped), most_of_each)
            for number, child in self._children.items()
            if not is_skipped((number,))
        )

    def _leaves(self, path: Path, is_skipped: Callable[[Path], bool]) -> Iterator[Path]:
        paths = (one for number in self._children if not is_skipped(one := (*path, number)))
        if all(child._children for child in islice(self._children.values(), 1)):
            return _one_of_each(self._children[one[-1]]._leaves(one, is_skipped) for one in paths)
        return paths


def _one_of_each(groups: Iterable[Iterator[Path]]) -> Iterator[Path]:
    """Yield one of each group, then a second of each that has more. A group is opened when its first turn comes."""
    while groups:
        going_on = []
        for group in groups:
            for path in group:
                yield path
                going_on.append(group)
                break
        groups = going_on


# Rows carry the number of the transaction that wrote them (`position`), which only grows. Transactions commit out of
# order, so "greater than the last one" would miss rows. But it is known exactly which transactions the last look could
# not see: those then in progress, and all that began later (PostgreSQL: pg_current_snapshot()).

SNAPSHOT = "SELECT pg_current_snapshot()::text"


class ReadTransactions:
    """The transactions that earlier looks have seen; none at first."""

    def __init__(self) -> None:
        self._next = 0
        self._in_progress: tuple[int, ...] = ()

    def begin(self, connection: Connection) -> None:
        """Count everything that is there now as read."""
        row = connection.execute(SNAPSHOT, prepare=True).fetchone()
        if row is not None:
            self.advance(row[0])

    def unread(self) -> dict[str, int | str]:
        """Return the values for a statement with `position >= next OR position = ANY (in_progress)`."""
        return {"next": self._next, "in_progress": integers(self._in_progress)}

    def advance(self, snapshot: str) -> None:
        """Remember what a look saw. `snapshot` is PostgreSQL's text for it, such as `10:20:10,14,15`."""
        _, following, in_progress = snapshot.split(":")
        self._next = int(following)
        self._in_progress = tuple(map(int, in_progress.split(","))) if in_progress else ()


SCAN_LIMIT = 10_000
PAGE = 1_000
# Everything is read anew this often, for rows that were locked, or deleted by a transaction that did not commit.
RESCAN_SECONDS = 20.0


class Cursor(NamedTuple):
    """The place in a key's rows after which to go on."""

    position: int
    id: int


class Waiting(NamedTuple):
    """A key's path in the turns, and the transaction of the first of its rows that a look saw."""

    path: Path
    position: int


class ScanResult(NamedTuple):
    """The result of a look at new rows: its snapshot, and whether there is more than its limit."""

    snapshot: str
    waiting: list[Waiting]
    has_more: bool


class Backlog(ABC):
    """The waiting rows of a table. Subclasses look for new rows and for all rows, and say which keys are theirs."""

    def __init__(self) -> None:
        self.turns = RoundRobin()
        self.places: dict[Path, Cursor] = {}
        self._transactions = ReadTransactions()
        self._rescanned_at: float | None = None

    @abstractmethod
    def look_for_new(self, connection: Connection, unread: dict[str, int | str], limit: int) -> ScanResult:
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
            look = self.look_for_new(connection, self._transactions.unread(), SCAN_LIMIT)
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
        found: dict[Path, Cursor] = {}
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

    def go_on(self, path: Path, place: Cursor) -> None:
        """Record that rows of a key up to this place were taken, and that the key had its turn."""
        self.places[path] = place
        self.turns.end_turn(path)

    def finish(self, path: Path) -> None:
        """Record that no rows of a key are left."""
        del self.places[path]
        self.turns.remove(path)


def _before(position: int) -> Cursor:
    """Return the place before all rows of a transaction."""
    return Cursor(position, -(2**62))
