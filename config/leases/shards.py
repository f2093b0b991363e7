"""Shards of a queue: each row's key falls into one, and each shard belongs to one worker run at a time.

So limits that a process keeps by itself (so many attempts in flight to one receiver) hold over all processes, without
a lock that everybody waits for. A run takes its even share; one that has more, because another came, lets go of the
rest as soon as it has nothing leased there, and one that is ending of all. The shards of a run that is gone are free.
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
    """The shard that a number falls into."""
    return key % SHARDS


class OwnedShards:
    """The shards of one run, over a table of `QueueShard` rows. `held` are those in which it may lease.

    `watched` are those beside, in which nothing may be leased yet: its own that close, and those of runs that end. What
    only finds work, and can be done by two at once without harm, is done in all of both.
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
        """Whether no other run has any."""
        return len(self.held) == SHARDS

    def create(self, connection: Connection) -> None:
        """Make the rows of all shards that there are none of yet."""
        connection.execute(self._create, {"shards": SHARDS})

    def balance(self, connection: Connection, *, held_up: Container[int] = ()) -> frozenset[int]:
        """Take what is missing to an even share, stop leasing in what is beyond it; gives what is newly held.

        In those that are held up something takes long: they would be nobody's until it ends, so they are kept.
        """
        values = {"run": self._run, "shards": SHARDS}
        row = connection.execute(self._balance, values, prepare=True).fetchone()
        if row is None:
            return frozenset()
        most, mine, taken = int(row[0]), set(row[1]), set(row[2])
        # What closes already goes first: something of the others may be leased.
        draw = SystemRandom().random
        order = sorted(mine, key=lambda number: (number not in self._closing, number in held_up, draw()))
        beyond = order[: max(0, len(mine) - most)]
        self._closing = frozenset(beyond)
        before, self.held = self.held, frozenset(mine | taken) - self._closing
        self.watched = self._closing | frozenset(row[3])
        return self.held - before

    def close(self) -> None:
        """Lease nothing more anywhere: `release` lets go of all."""
        self._closing |= self.held
        self.held = frozenset()

    def release(self, connection: Connection, *, busy: Container[int]) -> int:
        """Let go of the closing shards in which nothing is leased any more; says how many.

        `busy` must have been looked at after the last `balance`.
        """
        idle = [number for number in self._closing if number not in busy]
        if idle:
            connection.execute(self._release, {"run": self._run, "numbers": integers(idle)}, prepare=True)
            self._closing -= frozenset(idle)
        return len(idle)
