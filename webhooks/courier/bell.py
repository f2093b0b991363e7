"""Waits at the courier's bell in Redis; without Redis the sweep alone goes on."""

import threading
from collections.abc import Callable

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from agency.services.events import COURIER_BELL
from config.celery import bell_name

WAIT_SECONDS = 0.25
REST_SECONDS = 1.0


class BellWatch:
    """A thread that calls `on_ring` for every ring."""

    LONGEST_WAIT_SECONDS = 2.0

    def __init__(self, on_ring: Callable[[], None]) -> None:
        self._on_ring = on_ring
        self._stopping = threading.Event()
        self._redis = redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=self.LONGEST_WAIT_SECONDS,
            socket_connect_timeout=1,
            retry=Retry(NoBackoff(), 0),
        )
        self.thread = threading.Thread(target=self._run, name="courier-bell", daemon=True)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._redis.blpop([bell_name(COURIER_BELL)], timeout=WAIT_SECONDS):
                    self._on_ring()
            except redis.RedisError:
                self._stopping.wait(REST_SECONDS)
        self._redis.close()

    def stop(self) -> None:
        self._stopping.set()
