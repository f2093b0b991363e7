"""Metrics of beat, of the disk with workspaces' files, and of backups, which may all stop without a word."""

import os
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from config.health import BEAT_TICK_KEY
from config.metrics import Gauge
from config.metrics.declarations import Values
from config.redis import attempt

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

    ticked_at, (seconds, microseconds) = attempt(read)
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
