"""Shards of a queue: each row's key falls into one shard, and each shard belongs to one worker run at a time.

So a limit that a process keeps by itself (such as attempts in flight to one receiver) holds over all processes, without
a lock that everybody waits for. A run takes an even share. If another run comes, a run with more than its share
releases each extra shard as soon as nothing is leased in it. A run that is ending releases all of its shards. The
shards of a run that is gone are free.
"""

from collections.abc import Container
from random import SystemRandom

from psycopg.sql import SQL, Identifier

from config.leases.arrays import integers
from config.leases.connection import Connection

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
