"""Worker runs: who is at work on a queue, who has died, and whose leases still hold.

A run is the time in which one process works with what it has leased. It is seen every half second, and holds an
advisory lock while its connection lives. A lease names its run, so a process that comes back late finds its number
gone: it leases nothing and records nothing.
"""

from collections.abc import Callable, Iterable

from psycopg.sql import SQL, Identifier

from config.leases.connection import Connection

# A run that was not seen for so long has lost its leases: the ten seconds of an attempt, and a margin.
LEASE_SECONDS = 20
# A process that lost its connection has a moment to come back, and all have one after PostgreSQL was away.
GRACE_SECONDS = 3

BEGIN = """
INSERT INTO {runs} (number, started_at, seen_at)
SELECT %(run)s, moment, moment FROM (SELECT clock_timestamp() AS moment) AS now
"""
HOLD_PRESENCE = "SELECT pg_try_advisory_lock(%(presence)s, %(run)s)"
BE_SEEN = "UPDATE {runs} SET seen_at = clock_timestamp() WHERE number = %(run)s"
# A process that died has lost its lock; one that hangs, or whose network does, is not seen.
END_LOST = """
DELETE FROM {runs}
WHERE number <> %(run)s AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => %(grace)s)
AND (seen_at < clock_timestamp() - make_interval(secs => %(lease)s)
    OR (seen_at < clock_timestamp() - make_interval(secs => %(grace)s) AND number NOT IN (
        SELECT objid::bigint FROM pg_locks
        WHERE locktype = 'advisory' AND classid = %(presence)s AND objsubid = 2 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))))
RETURNING number
"""
END = "DELETE FROM {runs} WHERE number = %(run)s"


class WorkerRuns:
    """The runs in a table of `WorkerRun` rows.

    `presence` is the class of their advisory locks: any constant that nothing else in this database locks. `free`
    makes what runs of these numbers have leased free again.
    """

    def __init__(self, *, table: str, presence: int, free: Callable[[Connection, Iterable[int]], None]) -> None:
        self._presence = presence
        self._free = free
        self._begin, self._be_seen, self._end_lost, self._end = (
            SQL(statement).format(runs=Identifier(table)).as_string() for statement in (BEGIN, BE_SEEN, END_LOST, END)
        )

    def begin(self, connection: Connection, *, run: int) -> None:
        """Appear among those at work."""
        connection.execute(self._begin, {"run": run}, prepare=True)

    def hold_presence(self, connection: Connection, *, run: int) -> None:
        """Hold the lock that says this process lives, for as long as this connection does."""
        connection.execute(HOLD_PRESENCE, {"presence": self._presence, "run": run})

    def be_seen(self, connection: Connection, *, run: int) -> bool:
        """Renew all leases of the run; False where others have taken it for lost."""
        return connection.execute(self._be_seen, {"run": run}, prepare=True).rowcount == 1

    def end_lost(self, connection: Connection, *, run: int) -> int:
        """Free the leases of runs whose process died or was not seen for long; says how many those were."""
        values = {"run": run, "lease": LEASE_SECONDS, "grace": GRACE_SECONDS, "presence": self._presence}
        with connection.transaction():
            gone = connection.execute(self._end_lost, values, prepare=True).fetchall()
            if gone:
                self._free(connection, [int(row[0]) for row in gone])
        return len(gone)

    def end(self, connection: Connection, *, run: int) -> None:
        """Leave work; what is still leased is free again."""
        with connection.transaction():
            connection.execute(self._end, {"run": run}, prepare=True)
            self._free(connection, [run])
