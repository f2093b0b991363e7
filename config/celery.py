"""The alarm clock: Celery's app, and the bells that tell a waiting worker to look at its rows."""

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


def bell_name(bell: str) -> str:
    return f"bell:{bell}"


def _press(redis: Redis, name: str) -> None:
    """Leave one ring, however many there were."""
    both = redis.pipeline()
    both.lpush(name, 1)
    both.ltrim(name, 0, 0)
    both.execute()


def ring(bell: str) -> None:
    """After the commit, wake whoever waits at this bell. A lost or doubled ring is harmless: rows are swept."""

    def ring_now() -> None:
        try:
            attempt(lambda redis: _press(redis, bell_name(bell)))
        except RedisAway:
            return

    transaction.on_commit(ring_now, robust=True)


@signals.setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Leave the logging of `settings.LOGGING` in place."""
    from logging.config import dictConfig

    from django.conf import settings

    dictConfig(settings.LOGGING)
