"""Celery's app, and the wake-ups that make a waiting worker look at its rows."""

import os
from typing import Any

from celery import Celery, signals
from django.db import transaction
from redis import Redis

from config.redis import RedisAway, attempt

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("config")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def wake_up_key(name: str) -> str:
    """The key in Redis at which whoever has this name waits."""
    return f"wake-up:{name}"


def _push(redis: Redis, key: str) -> None:
    """Leave one wake-up, however many there were."""
    both = redis.pipeline()
    both.lpush(key, 1)
    both.ltrim(key, 0, 0)
    both.execute()


def wake_up(name: str) -> None:
    """After the commit, wake whoever waits under this name. A lost or doubled wake-up is harmless: rows are swept."""

    def wake_up_now() -> None:
        try:
            attempt(lambda redis: _push(redis, wake_up_key(name)))
        except RedisAway:
            return

    transaction.on_commit(wake_up_now, robust=True)


@signals.setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Keep the logging of `settings.LOGGING`."""
    from logging.config import dictConfig

    from django.conf import settings

    dictConfig(settings.LOGGING)
