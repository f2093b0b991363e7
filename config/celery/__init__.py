"""Celery's app, and the wake-ups that make a waiting worker look at its rows."""

import os
from functools import partial
from logging.config import dictConfig
from typing import TYPE_CHECKING

from celery import Celery, Task, signals
from django.conf import settings
from django.db import transaction

from config.celery.worker import ResidentTasks, WorkerHeartbeat
from config.postgresql.concurrency import retry_on_conflict
from config.redis import RedisUnavailable, call_redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Celery would run Django's system checks at every start and ignore their results. `migrate` runs them.
os.environ["CELERY_SKIP_CHECKS"] = "1"


# `Task` is generic only in its stubs.
if TYPE_CHECKING:
    BaseTask = Task[..., object]
else:
    BaseTask = Task


class RetryOnConflictTask(BaseTask):
    """A task that runs again if the database has ended one of its transactions in favour of another."""

    def __call__(self, *arguments: object, **named: object) -> object:
        return retry_on_conflict(partial(super().__call__, *arguments, **named))


app: "Celery[Task[..., object]]" = Celery("config", task_cls=RetryOnConflictTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(ResidentTasks)
app.steps["consumer"].add(WorkerHeartbeat)


def wake_up_channel(name: str) -> str:
    """Return the Redis channel for all who listen under this name.

    It holds the database's name, because Redis's own databases do not separate channels.
    """
    return f"wake-up:{settings.DATABASES['default']['NAME']}:{name}"


def wake_up_now(name: str) -> None:
    """Wake all who listen under this name. A lost or doubled wake-up is harmless, because rows are swept as well."""
    try:
        call_redis(lambda redis: redis.publish(wake_up_channel(name), b""))
    except RedisUnavailable:
        return


def wake_up(name: str) -> None:
    """Wake all who listen under this name once the transaction is committed."""

    def wake_up_after_commit() -> None:
        wake_up_now(name)

    transaction.on_commit(wake_up_after_commit, robust=True)


@signals.setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Configure logging by `settings.LOGGING`, which Celery would replace."""
    dictConfig(settings.LOGGING)
