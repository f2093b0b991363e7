"""Worker runs and shards: which processes work on a queue, which have died, and which rows each may lease.

A run is the time in which one process works with the rows that it has leased. It is seen every half second, or every
two seconds while it rests, and holds an advisory lock while its connection lives. A lease names its run. A process
that comes back late finds its run lost. It then leases nothing, and records nothing that others may have taken up
since. All times are the database's.
"""

from collections.abc import Callable, Container, Iterable
from random import SystemRandom

from django.db import models
from psycopg.sql import SQL, Identifier

from config.leases.connections import Connection
from config.postgresql.arrays import integers


class WorkerRun(models.Model):
    """A worker process at work on a queue, and when it was last seen.

    Its leases hold for as long as it is seen. A live run also holds an advisory lock on its number. An ending run
    finishes what it has and takes no new work. From `lost_at` on, the run's leases are being freed.
    """

    number = models.BigIntegerField(primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    is_ending = models.BooleanField(default=False, db_default=False)
    lost_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"run {self.number}"


class QueueShard(models.Model):
    """A share of a queue's keys, and the run that serves it. A shard is free if its run is gone."""

    number = models.SmallIntegerField(primary_key=True)
    run = models.BigIntegerField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"shard {self.number}"


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
ReleasePage = Callable[[Connection, Iterable[int], int, bool], int | None]
START = -(2**62)


class WorkerRuns:
    """The runs in a table of `WorkerRun` rows.

    `presence` is the class of their advisory locks, one of `AdvisoryLock`. A queue may have any length, so leases are
    freed page by page.
    """

    def __init__(self, *, table: str, presence: int, free: ReleasePage) -> None:
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


# So a limit that a process keeps by itself (such as attempts in flight to one receiver) holds over all processes,
# without a lock that everybody waits for. A run takes an even share. If another run comes, a run with more than its
# share releases each extra shard as soon as nothing is leased in it. A run that is ending releases all of its shards.
# The shards of a run that is gone are free.

SHARDS = 64

CREATE = """
INSERT INTO {shards} (number) SELECT generate_series(0, %(shards)s - 1) ON CONFLICT DO NOTHING
"""
BALANCE = """
WITH self AS MATERIALIZED (
    SELECT number FROM {runs} WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
), mine AS MATERIALIZED (
    SELECT number FROM {shards} WHERE run = %(run)s AND EXISTS (SELECT FROM self)
), share AS MATERIALIZED (
    SELECT ceil(%(shards)s::numeric / greatest(1, count(*))) AS most FROM {runs}
    WHERE lost_at IS NULL AND NOT is_ending
), taken AS (
    UPDATE {shards} SET run = %(run)s WHERE number = ANY (ARRAY (
        SELECT number FROM {shards} WHERE run IS NULL OR run NOT IN (SELECT number FROM {runs})
        ORDER BY random() LIMIT (SELECT greatest(0, most - (SELECT count(*) FROM mine)) FROM share)
        FOR UPDATE SKIP LOCKED
    )) AND EXISTS (SELECT FROM self)
    RETURNING number
)
SELECT most, ARRAY (SELECT number FROM mine), ARRAY (SELECT number FROM taken),
    ARRAY (SELECT number FROM {shards} WHERE run IN (SELECT number FROM {runs} WHERE is_ending)) FROM share
"""
RELEASE = "UPDATE {shards} SET run = NULL WHERE number = ANY (%(numbers)s::smallint[]) AND run = %(run)s"


def shard_of(key: int) -> int:
    """Return the shard that a number falls into."""
    return key % SHARDS


class OwnedShards:
    """The shards of one run, over a table of `QueueShard` rows. It may lease rows in those of `held`.

    In `watched` shards nothing may be leased yet: they are the run's own closing shards, and the shards of ending runs.
    Work that only finds rows, and does no harm if two runs do it at once, is done in `held` and `watched` shards.
    """

    def __init__(self, *, run: int, shards: str, runs: str) -> None:
        self.held: frozenset[int] = frozenset()
        self.watched: frozenset[int] = frozenset()
        self._run = run
        self._closing: frozenset[int] = frozenset()
        self._create, self._balance, self._release = (
            SQL(statement).format(shards=Identifier(shards), runs=Identifier(runs)).as_string()
            for statement in (CREATE, BALANCE, RELEASE)
        )

    @property
    def is_all(self) -> bool:
        """Whether no other run has a shard."""
        return len(self.held) == SHARDS

    def create(self, connection: Connection) -> None:
        """Insert the rows of shards that are missing."""
        connection.execute(self._create, {"shards": SHARDS})

    def balance(self, connection: Connection, *, held_up: Container[int] = ()) -> frozenset[int]:
        """Take shards up to an even share, and stop leasing in those beyond it; return the newly held shards.

        In `held_up` shards something takes long. Nobody could use them until it ends, so they are kept.
        """
        values = {"run": self._run, "shards": SHARDS}
        row = connection.execute(self._balance, values, prepare=True).fetchone()
        if row is None:
            return frozenset()
        most, mine, taken = int(row[0]), set(row[1]), set(row[2])
        # Shards that are already closing go first; in the others something may be leased.
        draw = SystemRandom().random
        order = sorted(mine, key=lambda number: (number not in self._closing, number in held_up, draw()))
        beyond = order[: max(0, len(mine) - most)]
        self._closing = frozenset(beyond)
        before, self.held = self.held, frozenset(mine | taken) - self._closing
        self.watched = self._closing | frozenset(row[3])
        return self.held - before

    def close(self) -> None:
        """Lease nothing more in any shard. `release` then releases all of them."""
        self._closing |= self.held
        self.held = frozenset()

    def release(self, connection: Connection, *, busy: Container[int]) -> int:
        """Release the closing shards in which nothing is leased any more; return how many.

        `busy` must have been read after the last `balance`.
        """
        idle = [number for number in self._closing if number not in busy]
        if idle:
            connection.execute(self._release, {"run": self._run, "numbers": integers(idle)}, prepare=True)
            self._closing -= frozenset(idle)
        return len(idle)
