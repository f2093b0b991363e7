"""Celery's beat by a clock that nobody sets. It sends no task to a queue in which enough wait."""

import time
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from celery import Celery, beat
from celery.schedules import BaseSchedule, schedule
from django.conf import settings
from kombu import Producer

from config.celery.tasks import QueueLengths
from config.celery.worker import BROKER
from config.heartbeats import Heartbeat

_started_at, _started = datetime.now(UTC), time.monotonic()


def steady_now() -> datetime:
    """Return a time that goes on evenly when the host's clock is set.

    If the clock is set back by an hour, beat would otherwise stop for an hour.
    """
    return _started_at + timedelta(seconds=time.monotonic() - _started)


class Entry(beat.ScheduleEntry):
    """A schedule entry whose interval is counted by the steady clock."""

    def __init__(self, schedule: BaseSchedule | None = None, app: Celery | None = None, **options: Any) -> None:
        super().__init__(schedule=_steady(schedule, app), app=app, **options)


def _steady(interval: Any, app: Celery | None) -> schedule:
    return interval if isinstance(interval, schedule) else schedule(interval, nowfun=steady_now, app=app)


class Scheduler(beat.Scheduler):
    """Keeps the settings' schedule in memory, and sends nothing to a queue in which enough tasks wait."""

    Entry = Entry

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.heartbeat = Heartbeat(settings.HEARTBEAT_DIRECTORY, "beat")
        super().__init__(*arguments, **named)

    def _ensure_connected(self) -> object:
        self.heartbeat.wait_for(BROKER)
        return super()._ensure_connected()  # type: ignore[misc]  # the stubs leave it out

    def tick(self, *arguments: Any, **named: Any) -> float:
        self.heartbeat.turn()
        return super().tick(*arguments, **named)

    def setup_schedule(self) -> None:
        self.schedule = {}
        self.merge_inplace(self.app.conf.beat_schedule)

    def apply_async(
        self, entry: beat.ScheduleEntry, producer: Producer | None = None, advance: bool = True, **options: object
    ) -> object:
        queue = self.app.conf.task_routes[entry.task]["queue"]
        if self.waiting_calls.are_enough(queue):
            return None
        return super().apply_async(entry, producer=producer, advance=advance, **options)

    @cached_property
    def waiting_calls(self) -> QueueLengths:
        return QueueLengths(self.connection)

    def close(self) -> None:
        """Drop the connection without a goodbye: a broker that does not answer would hold beat for half a minute."""
        self.heartbeat.end()
        self.connection.collect(socket_timeout=1)
