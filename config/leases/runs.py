"""Worker runs: which processes work on a queue, which have died, and whose leases still hold.

A run is the time in which one process works with the rows that it has leased. It is seen every half second, or every
two seconds while it rests, and holds an advisory lock while its connection lives. A lease names its run. A process that
comes back late finds its run lost. It then leases nothing, and records nothing that others may have taken up since. All
times are the database's.
"""

from collections.abc import Callable, Iterable

from psycopg.sql import SQL, Identifier

from config.leases.arrays import integers
from config.leases.connection import Connection

# A run that was not seen for this long has lost its leases: the ten seconds of an attempt, and a margin.
LEASE_SECONDS = 20
# A process that lost its connection has this long to come back. After PostgreSQL was away, all processes have it. It is
# longer than the pause between two times at which a resting process is seen.
GRACE_SECONDS = 3

BEGIN = """
INSERT INTO {runs} (number, started_at, seen_at)
SELECT %(run)s, moment, moment FROM (SELECT clock_timestamp() AS moment) AS now
"""
HOLD_PRESENCE = "SELECT pg_try_advisory_lock(%(presence)s, %(run)s)"
BE_SEEN = "UPDATE {runs} SET seen_at = clock_timestamp() WHERE number = %(run)s AND lost_at IS NULL"
# A process that died has lost its lock. A process that hangs, or whose network does, is not seen. If the clock was put
# back, a time lies in the future; then only the lock tells.
FIND_LOST = """
WITH marked AS (
    UPDATE {runs} SET lost_at = clock_timestamp()
    WHERE number <> %(run)s AND lost_at IS NULL
        AND pg_postmaster_start_time()
            NOT BETWEEN clock_timestamp() - make_interval(secs => %(grace)s) AND clock_timestamp()
        AND (seen_at < clock_timestamp() - make_interval(secs => %(lease)s)
            OR (seen_at NOT BETWEEN clock_timestamp() - make_interval(secs => %(grace)s) AND clock_timestamp()
                AND number NOT IN (
                    SELECT objid::bigint FROM pg_locks
                    WHERE locktype = 'advisory' AND classid = %(presence)s AND objsubid = 2 AND granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))))
    RETURNING number
)
SELECT number FROM marked UNION SELECT number FROM {runs} WHERE lost_at IS NOT NULL AND number <> %(run)s
"""
ANNOUNCE_END = "UPDATE {runs} SET is_ending = true WHERE number = %(run)s"
LEAVE = "UPDATE {runs} SET lost_at = clock_timestamp() WHERE number = %(run)s"
FORGET = "DELETE FROM {runs} WHERE number = ANY (%(runs)s::bigint[]) AND lost_at IS NOT NULL"

# Frees the leases of these runs among the next rows after a key. Returns the key to go on after, None at the end.
# `died` says whether the runs ended without meaning to.
FreeAPage = Callable[[Connection, Iterable[int], int, bool], int | None]
START = -(2**62)


class WorkerRuns:
    """The runs in a table of `WorkerRun` rows.

    `presence` is the class of their advisory locks, one of `AdvisoryLock`. A queue may have any length, so leases are
    freed page by page.
    """

    def __init__(self, *, table: str, presence: int, free: FreeAPage) -> None:
        self._presence = presence
        self._free = free
        self._begin, self._be_seen, self._find_lost, self._announce_end, self._leave, self._forget = (
            SQL(statement).format(runs=Identifier(table)).as_string()
            for statement in (BEGIN, BE_SEEN, FIND_LOST, ANNOUNCE_END, LEAVE, FORGET)
        )

    def begin(self, connection: Connection, *, run: int) -> None:
        """Add the run to those at work."""
        connection.execute(self._begin, {"run": run}, prepare=True)

    def hold_presence(self, connection: Connection, *, run: int) -> None:
        """Hold the lock that says that this process lives, for as long as this connection does."""
        connection.execute(HOLD_PRESENCE, {"presence": self._presence, "run": run})

    def be_seen(self, connection: Connection, *, run: int) -> bool:
        """Renew all leases of the run; False if others have declared it lost."""
        return connection.execute(self._be_seen, {"run": run}, prepare=True).rowcount == 1

    def find_lost(self, connection: Connection, *, run: int) -> list[int]:
        """Return the runs whose process died or was not seen for long, and whose leases are not all freed yet."""
        values = {"run": run, "lease": LEASE_SECONDS, "grace": GRACE_SECONDS, "presence": self._presence}
        return [int(row[0]) for row in connection.execute(self._find_lost, values, prepare=True)]

    def free_a_page(
        self, connection: Connection, *, runs: Iterable[int], after: int = START, died: bool = True
    ) -> int | None:
        """Free the runs' leases in the next page of the queue; return where to go on, None at the end.

        At the end the runs' own rows are deleted.
        """
        numbers = list(runs)
        following = self._free(connection, numbers, after, died)
        if following is None:
            connection.execute(self._forget, {"runs": integers(numbers)}, prepare=True)
        return following

    def end_lost(self, connection: Connection, *, run: int) -> int:
        """Free all leases of lost runs; return how many runs were lost."""
        lost = self.find_lost(connection, run=run)
        if lost:
            self._free_all(connection, lost, died=True)
        return len(lost)

    def announce_end(self, connection: Connection, *, run: int) -> None:
        """Record that the run finishes what it has and takes nothing more."""
        connection.execute(self._announce_end, {"run": run}, prepare=True)

    def end(self, connection: Connection, *, run: int) -> None:
        """End the run and free its remaining leases.

        If the process dies meanwhile, other runs free the rest.
        """
        connection.execute(self._leave, {"run": run}, prepare=True)
        self._free_all(connection, [run], died=False)

    def _free_all(self, connection: Connection, runs: list[int], *, died: bool) -> None:
        after: int | None = START
        while after is not None:
            after = self.free_a_page(connection, runs=runs, after=after, died=died)
