"""What the exporter says of beat, of the disk with files, and of backups, and what where one is not set up."""

import os
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from config.celery import app
from config.celery.beat import Scheduler
from config.health import BEAT_TICK_KEY, PULSE
from config.operations import system_metrics
from config.redis import call_redis
from tests.config.metrics.conftest import Scrape
from tests.processes.broker import forget_calls

pytestmark = pytest.mark.django_db


def value(samples: Any, name: str) -> float | None:
    found: float | None = samples.get((name, ()))
    return found


def test_beat_that_has_never_ticked_is_away_for_ever(scrape: Scrape) -> None:
    call_redis(lambda redis: redis.delete(BEAT_TICK_KEY))
    assert value(scrape(), "beat_last_tick_seconds") == float("inf")


def test_beat_says_when_it_ticked_last(scrape: Scrape) -> None:
    forget_calls()
    scheduler = Scheduler(app)
    scheduler.apply_entry(scheduler.schedule[PULSE], producer=scheduler.producer)
    scheduler.close()
    forget_calls()
    age = value(scrape(), "beat_last_tick_seconds")
    assert age is not None
    assert 0 <= age < 60
    earlier = call_redis(lambda redis: float(redis.get(BEAT_TICK_KEY))) - 3600  # type: ignore[arg-type]  # beat has ticked
    call_redis(lambda redis: redis.set(BEAT_TICK_KEY, earlier))
    assert value(scrape(), "beat_last_tick_seconds") == pytest.approx(age + 3600, abs=60)


def test_the_room_for_files_is_what_is_left_to_us_of_bytes_or_of_names(
    scrape: Scrape, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.MEDIA_BUCKET, settings.MEDIA_DIRECTORY = "", str(tmp_path / "not" / "made" / "yet")
    left = value(scrape(), "media_disk_free_ratio")
    assert left is not None
    assert 0 < left <= 1
    disk = namedtuple("disk", "f_blocks f_bavail f_files f_favail")  # as os.statvfs answers
    for answer, expected in [(disk(100, 25, 0, 0), 0.25), (disk(100, 25, 1000, 10), 0.01), (disk(0, 0, 0, 0), 1.0)]:
        monkeypatch.setattr(os, "statvfs", lambda _, answer=answer: answer)
        assert value(scrape(), "media_disk_free_ratio") == expected


def test_a_bucket_has_no_disk(scrape: Scrape, settings: Any) -> None:
    settings.MEDIA_BUCKET = "files"
    assert value(scrape(), "media_disk_free_ratio") is None


def test_a_disk_that_cannot_be_asked_hides_nothing_else(
    scrape: Scrape, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    def broken(_: Any) -> Any:
        raise OSError("Stale file handle")

    settings.MEDIA_BUCKET = ""
    monkeypatch.setattr(os, "statvfs", broken)
    samples = scrape()
    assert samples["metric_reading_failed", (("metric", "media_disk_free_ratio"),)] == 1
    assert value(samples, "postgres_up") == 1
    assert value(samples, "postgres_connections_used_ratio") is not None


def test_the_age_of_the_newest_backup(scrape: Scrape, settings: Any, tmp_path: Path) -> None:
    settings.BACKUP_DIRECTORY = ""
    assert value(scrape(), "backup_age_seconds") is None  # nobody said where they are
    settings.BACKUP_DIRECTORY = str(tmp_path)
    assert value(scrape(), "backup_age_seconds") == float("inf")
    for name, age in (("monday", 90_000), ("tuesday", 3_600)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    assert value(scrape(), "backup_age_seconds") == pytest.approx(3_600, abs=60)


def test_an_archive_that_is_not_asked_for_has_no_age(scrape: Scrape) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW archive_mode")
        assert cursor.fetchone() == ("off",)
    assert value(scrape(), "wal_archive_age_seconds") is None


@pytest.mark.parametrize(
    ("archived", "failed", "begun", "age"),
    [
        ("10 minutes", None, "2 hours", 600),
        ("10 minutes", "5 minutes", "2 hours", 600),
        (None, "1 minute", "2 hours", 7200),
        (None, None, "1 minute", 60),
    ],
)
def test_an_archive_is_as_old_as_its_last_segment_or_as_the_server(
    archived: str | None, failed: str | None, begun: str, age: float
) -> None:
    """The server's own view is stood in for: whether its archive is on cannot be changed while it runs."""
    ago = {
        name: f"now() - interval '{time}'" if time else "NULL::timestamptz"
        for name, time in locals().items()
        if name != "age"
    }
    view = f"(SELECT {ago['archived']} AS last_archived_time, {ago['begun']} AS stats_reset)"
    with connection.cursor() as cursor:
        cursor.execute(system_metrics.ARCHIVE_AGE.replace("pg_stat_archiver", f"{view} AS archiver"))
        row = cursor.fetchone()
    assert row is not None
    assert float(row[0]) == pytest.approx(age, abs=30)
