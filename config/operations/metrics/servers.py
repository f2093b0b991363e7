"""Metrics of PostgreSQL, Redis and the workers."""

import time

from django.db import connection

from config.health import WORKER_KEY
from config.metrics import Gauge
from config.metrics.publishing import PROCESSES
from config.recovery.identity import waits_for_confirmation
from config.redis import attempt

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


def ask(statement: str) -> float:
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
    theirs = ask(CLOCK)
    return (before + time.time()) / 2 - theirs


SERVER_METRICS = (
    Gauge("postgres_up", "1 where PostgreSQL answers.", read=lambda: ask("SELECT 1")),
    Gauge(
        "redis_up",
        "1 where Redis answers.",
        read=lambda: float(bool(attempt(lambda redis: redis.ping()))),
        source="redis",
    ),
    Gauge(
        "postgres_oldest_transaction_seconds",
        "Age of the oldest open transaction.",
        read=lambda: ask(OLDEST_TRANSACTION),
    ),
    Gauge(
        "postgres_oldest_snapshot_transactions",
        "How many transactions ago the oldest snapshot was taken that keeps dead rows.",
        read=lambda: ask(OLDEST_SNAPSHOT),
    ),
    Gauge(
        "postgres_connections_used_ratio",
        "Part of max_connections that is in use.",
        read=lambda: ask(CONNECTIONS),
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
        read=lambda: float(attempt(lambda redis: redis.exists(WORKER_KEY))),
        source="redis",
    ),
    Gauge(
        "processes_reporting",
        "Processes that have passed on what they measure lately.",
        read=lambda: float(attempt(lambda redis: redis.scard(PROCESSES))),
        source="redis",
    ),
)
