"""Which transactions a process has read, so that its next look finds exactly the rows committed since.

Rows carry the number of the transaction that wrote them (`position`), which only grows. Transactions commit out of
order, so "greater than the last one" would miss rows. But it is known exactly which transactions the last look could
not see: those then in progress, and all that began later (PostgreSQL: pg_current_snapshot()).
"""

from config.leases.arrays import integers
from config.leases.connection import Connection

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
