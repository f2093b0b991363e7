"""Metrics of PostgreSQL, Redis, Celery's queues, workers, beat, the disk and backups."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from config.celery import app
from config.health import BEAT_TICK_KEY, WORKER_KEY
from config.metrics import PROCESSES, Gauge, Values
from config.queues import QUEUES
from config.recovery.identity import waits_for_confirmation
from config.redis import call_redis

NOTHING: Values = {}
NEVER = float("inf")
IS_ARCHIVING = "SELECT current_setting('archive_mode') <> 'off'"
# If the server has never archived anything, the age counts from the last reset of its statistics.
ARCHIVE_AGE = """
SELECT extract(epoch FROM clock_timestamp() - coalesce(last_archived_time, stats_reset)) FROM pg_stat_archiver
"""


def beat_last_tick() -> float:
    """Return how long ago beat last sent its pulse, by Redis's clock."""

    def read(redis: Any) -> tuple[Any, Any]:
        return redis.get(BEAT_TICK_KEY), redis.time()

    ticked_at, (seconds, microseconds) = call_redis(read)
    return NEVER if ticked_at is None else max(0.0, seconds + microseconds / 1e6 - float(ticked_at))


def media_disk_free() -> Values:
    """Return which part of the disk we may still fill: of its bytes or of its inodes, whichever is scarcer."""
    if settings.MEDIA_BUCKET:
        return NOTHING
    folder = Path(settings.MEDIA_DIRECTORY)
    there = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    disk = os.statvfs(there)
    parts = [(disk.f_bavail, disk.f_blocks), (disk.f_favail, disk.f_files)]
    return min((free / whole for free, whole in parts if whole), default=1.0)


def backup_age() -> Values:
    """Return how long ago the newest file or folder in BACKUP_DIRECTORY was written."""
    if not settings.BACKUP_DIRECTORY:
        return NOTHING
    with os.scandir(settings.BACKUP_DIRECTORY) as entries:
        newest = max((entry.stat().st_mtime for entry in entries), default=None)
    return NEVER if newest is None else max(0.0, time.time() - newest)


def archive_age() -> Values:
    """Return how long ago PostgreSQL last archived its write-ahead log; nothing if it does not archive."""
    with connection.cursor() as cursor:
        cursor.execute(IS_ARCHIVING)
        if cursor.fetchone() != (True,):
            return NOTHING
        cursor.execute(ARCHIVE_AGE)
        row = cursor.fetchone()
    return float(row[0]) if row and row[0] is not None else NEVER


HOST_METRICS = (
    Gauge(
        "beat_last_tick_seconds",
        "How long ago beat asked for work last; +Inf if never since Redis was emptied.",
        read=beat_last_tick,
        source="redis",
    ),
    Gauge(
        "media_disk_free_ratio",
        "Part of the disk with workspaces' files that is free, of bytes or inodes; nothing where a bucket has them.",
        read=media_disk_free,
        source="media",
    ),
    Gauge(
        "backup_age_seconds",
        "Age of the newest entry of BACKUP_DIRECTORY; +Inf if it has none.",
        read=backup_age,
        source="backups",
    ),
    Gauge(
        "wal_archive_age_seconds",
        "Since when PostgreSQL has archived no write-ahead log; nothing where archive_mode is off.",
        read=archive_age,
    ),
)


Looks = dict[str, tuple[object, float]]


@dataclass
class QueueWatch:
    """Remembers since when each queue has had the same first call, by this process's monotonic clock.

    Some brokers do not show waiting calls, only how many there are. The time then counts from when the queue was last
    seen empty.
    """

    first: Looks = field(default_factory=dict)

    def waiting(self) -> dict[str, float]:
        """Return how many calls wait in each queue."""
        with app.connection_for_read() as broker, broker.channel() as channel:
            return {queue.name: float(length(channel, queue.name)) for queue in QUEUES}

    def oldest_seconds(self) -> dict[str, float]:
        """Return for how long each queue's first call has been seen waiting."""
        now = time.monotonic()
        with app.connection_for_read() as broker, broker.channel() as channel:
            for queue in QUEUES:
                self._look(queue.name, first_call(channel, queue.name), now)
        return {queue.name: now - self.first[queue.name][1] for queue in QUEUES}

    def _look(self, queue: str, call: object, now: float) -> None:
        if call is None or self.first.get(queue, (None,))[0] != call:
            self.first[queue] = (call, now)


def length(channel: Any, queue: str) -> int:
    """Return how many calls wait; 0 in a queue that the broker does not know."""
    try:
        return int(channel.queue_declare(queue=queue, passive=True).message_count)
    except channel.connection.client.channel_errors:
        return 0


def first_call(channel: Any, queue: str) -> object:
    """Return a value that identifies the first waiting call; None for an empty queue."""
    client = getattr(channel, "client", None)
    if client is not None:
        return client.lindex(queue, -1)
    return "some" if length(channel, queue) else None


_watch = QueueWatch()
QUEUE_METRICS = (
    Gauge("celery_queue_waiting", "Calls that wait in a queue.", read=_watch.waiting, label="queue", source="broker"),
    Gauge(
        "celery_queue_oldest_seconds",
        "For how long the first call of a queue has been seen waiting.",
        read=_watch.oldest_seconds,
        label="queue",
        source="broker",
    ),
)


OLDEST_TRANSACTION = """
SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# The holders that keep dead rows from being removed: a statement or transaction, a prepared one, a replica, a slot.
OLDEST_SNAPSHOT = """
SELECT coalesce(max(age), 0) FROM (
    SELECT age(backend_xmin) AS age FROM pg_stat_activity WHERE pid <> pg_backend_pid()
    UNION ALL SELECT age(transaction) FROM pg_prepared_xacts
    UNION ALL SELECT age(backend_xmin) FROM pg_stat_replication
    UNION ALL SELECT greatest(age(xmin), age(catalog_xmin)) FROM pg_replication_slots
) AS holders
"""
CONNECTIONS = """
SELECT count(*) FILTER (WHERE backend_type = 'client backend')::float8 / current_setting('max_connections')::int
FROM pg_stat_activity
"""
CLOCK = "SELECT extract(epoch FROM clock_timestamp())"


def query_value(statement: str) -> float:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return float(row[0]) if row else 0.0


def database_waits() -> float:
    """Return 1 while workers wait for somebody who says what became of a restored database."""
    with connection.cursor() as cursor:
        return float(waits_for_confirmation(cursor))


def database_clock_offset() -> float:
    """Return how far this host's clock is ahead of the database's. Half the way there and back is taken out."""
    before = time.time()
    theirs = query_value(CLOCK)
    return (before + time.time()) / 2 - theirs


SERVER_METRICS = (
    Gauge("postgres_up", "1 where PostgreSQL answers.", read=lambda: query_value("SELECT 1")),
    Gauge(
        "redis_up",
        "1 where Redis answers.",
        read=lambda: float(bool(call_redis(lambda redis: redis.ping()))),
        source="redis",
    ),
    Gauge(
        "postgres_oldest_transaction_seconds",
        "Age of the oldest open transaction.",
        read=lambda: query_value(OLDEST_TRANSACTION),
    ),
    Gauge(
        "postgres_oldest_snapshot_transactions",
        "How many transactions ago the oldest snapshot was taken that keeps dead rows.",
        read=lambda: query_value(OLDEST_SNAPSHOT),
    ),
    Gauge(
        "postgres_connections_used_ratio",
        "Part of max_connections that is in use.",
        read=lambda: query_value(CONNECTIONS),
    ),
    Gauge(
        "database_unconfirmed",
        "1 where the database was restored and workers wait for after_restore.",
        read=database_waits,
    ),
    Gauge(
        "database_clock_offset_seconds",
        "How far the exporter's clock is ahead of the database's.",
        read=database_clock_offset,
    ),
    Gauge(
        "worker_seen",
        "1 where a worker took a task within the last 30 seconds.",
        read=lambda: float(call_redis(lambda redis: redis.exists(WORKER_KEY))),
        source="redis",
    ),
    Gauge(
        "processes_reporting",
        "Processes that have passed on what they measure lately.",
        read=lambda: float(call_redis(lambda redis: redis.scard(PROCESSES))),
        source="redis",
    ),
)
