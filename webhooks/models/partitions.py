"""A partition of deliveries and one of their attempts for each UTC day, so that a day can be dropped as a whole.

A delivery's number begins with the day on which it was made: the days since 1970 times 2^36, and then a sequence. So
the primary key alone says in which partition a delivery is, its attempts are in that of the same day, and the order of
the numbers stays the order in time. There is no default partition: no day could be detached concurrently beside one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection, transaction

from config.postgresql.advisory_locks import AdvisoryLock

EPOCH = date(1970, 1, 1)
A_DAY = timedelta(days=1)
NUMBER_BITS = 36

TODAY = "SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date"
NEW_ID = (
    "(floor(extract(epoch FROM clock_timestamp()) / 86400)::bigint << 36) "
    "+ (nextval('webhooks_delivery_number') & 68719476735)"
)
# Whether a partition is attached, and whether somebody has begun to detach it. One that stands alone is left to drop.
PARTITIONS = """
SELECT table_.relname, link.inhrelid IS NOT NULL, coalesce(link.inhdetachpending, false)
FROM pg_class table_ LEFT JOIN pg_inherits link ON link.inhrelid = table_.oid
WHERE table_.relkind = 'r' AND table_.relnamespace = current_schema::regnamespace
    AND table_.relname ~ ('^' || %s || '_[0-9]{8}$')
ORDER BY table_.relname
"""
# Attaching a table of its own takes weaker locks of the parent than making a partition of it would.
MAKE = "CREATE TABLE {name} (LIKE {parent} INCLUDING ALL) WITH ({storage})"
ATTACH = "ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({end})"


@dataclass(frozen=True, slots=True)
class Partitioned:
    """A table in partitions; `unique` are indexes that cannot span partitions and so are made in each of them."""

    parent: str
    storage: str
    unique: dict[str, str]

    def name(self, day: date) -> str:
        return f"{self.parent}_{day:%Y%m%d}"

    def make(self, cursor: Any, day: date) -> None:
        """Make and attach the partition of a day, which must not be there."""
        name = self.name(day)
        bounds = {"first": first_id(day), "end": first_id(day + A_DAY)}
        cursor.execute(MAKE.format(name=name, parent=self.parent, storage=self.storage))
        for suffix, columns in self.unique.items():
            cursor.execute(f"CREATE UNIQUE INDEX {name}_{suffix} ON {name} {columns}")
        cursor.execute(ATTACH.format(name=name, parent=self.parent, **bounds))


@dataclass(frozen=True, slots=True)
class Partition:
    """One day of a table as it is found in the database."""

    table: Partitioned
    day: date
    is_attached: bool
    is_being_detached: bool

    @property
    def name(self) -> str:
        return self.table.name(self.day)


# A delivery's row is updated once an attempt, on its own page if there is room.
DELIVERIES = Partitioned(
    "webhooks_delivery",
    "fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05",
    {"uuid": "(uuid)", "once": "(event_id, endpoint_id) WHERE kind = 'automatic'"},
)
ATTEMPTS = Partitioned("webhooks_attempt", "fillfactor = 100", {})


def first_id(day: date) -> int:
    """Give the lowest number that a delivery of this day can have."""
    return (day - EPOCH).days << NUMBER_BITS


def today() -> date:
    """Give the day by the database's clock, in UTC."""
    with connection.cursor() as cursor:
        cursor.execute(TODAY)
        found: date = cursor.fetchone()[0]
    return found


def is_partitioned(table: Partitioned) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)", [table.parent])
        row = cursor.fetchone()
    return row is not None and bool(row[0])


def partitions(table: Partitioned) -> list[Partition]:
    """Find the days of a table, the oldest first, with those that are on their way out."""
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS, [table.parent])
        rows = cursor.fetchall()
    return [Partition(table, date.fromisoformat(name[-8:]), attached, leaving) for name, attached, leaving in rows]


def make_partitions(first: date, last: date) -> int:
    """Make what is missing of these days, each day in a transaction of its own; says how many days it made."""
    there = {one.day for one in partitions(DELIVERIES)} & {one.day for one in partitions(ATTEMPTS)}
    return sum(_make(day) for day in _days(first, last) if day not in there)


@transaction.atomic
def _make(day: date) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [AdvisoryLock.DELIVERY_LOG_DAY.value])
        missing = [table for table in (DELIVERIES, ATTEMPTS) if day not in {one.day for one in partitions(table)}]
        for table in missing:
            table.make(cursor, day)
    return bool(missing)


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + number * A_DAY
