"""The partitions of deliveries and attempts, one for each UTC day, so that a day can be dropped as a whole.

A delivery's primary key is the days since 1970 times 2^36, plus a sequence. So the key alone tells the partition, a
delivery's attempts are in the same day's partition, and keys are in the order of time. There is no default partition,
because PostgreSQL cannot detach a partition concurrently beside one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from config.postgresql.concurrency import AdvisoryLock

EPOCH = date(1970, 1, 1)
A_DAY = timedelta(days=1)
NUMBER_BITS = 36

TODAY = "SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date"
NEW_ID = (
    "(floor(extract(epoch FROM clock_timestamp()) / 86400)::bigint << 36) "
    "+ (nextval('webhooks_delivery_number') & 68719476735)"
)
# The daily tables, whether each is attached, and whether its detach has begun. A detached table must still be dropped.
PARTITIONS = """
SELECT table_.relname, link.inhrelid IS NOT NULL, coalesce(link.inhdetachpending, false)
FROM pg_class table_ LEFT JOIN pg_inherits link ON link.inhrelid = table_.oid
WHERE table_.relkind = 'r' AND table_.relnamespace = current_schema::regnamespace
    AND table_.relname ~ ('^' || %s || '_[0-9]{8}$')
ORDER BY table_.relname
"""
# Attaching a separate table takes weaker locks on the parent than creating a partition directly.
MAKE = "CREATE TABLE {name} (LIKE {parent} INCLUDING ALL) WITH ({storage})"
ATTACH = "ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({end})"


@dataclass(frozen=True, slots=True)
class PartitionedTable:
    """A partitioned table. `unique` holds the unique indexes that each partition gets, as they cannot span several."""

    parent: str
    storage: str
    unique: dict[str, str]

    def name(self, day: date) -> str:
        return f"{self.parent}_{day:%Y%m%d}"

    def make(self, cursor: CursorWrapper, day: date) -> None:
        """Create and attach the partition of a day. It must not exist yet."""
        name = self.name(day)
        bounds = {"first": first_id(day), "end": first_id(day + A_DAY)}
        cursor.execute(MAKE.format(name=name, parent=self.parent, storage=self.storage))
        for suffix, columns in self.unique.items():
            cursor.execute(f"CREATE UNIQUE INDEX {name}_{suffix} ON {name} {columns}")
        cursor.execute(ATTACH.format(name=name, parent=self.parent, **bounds))


@dataclass(frozen=True, slots=True)
class Partition:
    """One day's partition as found in the database."""

    table: PartitionedTable
    day: date
    is_attached: bool
    is_being_detached: bool

    @property
    def name(self) -> str:
        return self.table.name(self.day)


# A delivery's row is updated once for each attempt, on its page if there is room.
DELIVERIES = PartitionedTable(
    "webhooks_delivery",
    "fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05",
    {"uuid": "(uuid)", "once": "(event_id, endpoint_id) WHERE kind = 'automatic'"},
)
ATTEMPTS = PartitionedTable("webhooks_attempt", "fillfactor = 100", {})


def first_id(day: date) -> int:
    """Return the lowest primary key of a delivery of this day."""
    return (day - EPOCH).days << NUMBER_BITS


def today() -> date:
    """Return the current UTC date by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(TODAY)
        found: date = cursor.fetchone()[0]
    return found


def is_partitioned(table: PartitionedTable) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)", [table.parent])
        row = cursor.fetchone()
    return row is not None and bool(row[0])


def partitions(table: PartitionedTable) -> list[Partition]:
    """Return a table's partitions, oldest first, including those that are being detached or are detached."""
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS, [table.parent])
        rows = cursor.fetchall()
    return [Partition(table, date.fromisoformat(name[-8:]), attached, leaving) for name, attached, leaving in rows]


def make_partitions(first: date, last: date) -> int:
    """Create the missing partitions of these days, each day in its own transaction. Return the number of days."""
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
