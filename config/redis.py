"""The Redis client, with short timeouts and a breaker: a dead Redis costs one short wait a second."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from config.environment import sentinel_address

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

TIMEOUT_SECONDS = 0.2
BREAK_SECONDS = 1.0


class RedisUnavailable(Exception):
    """Redis does not answer; the caller goes on without it."""


class CircuitBreaker:
    """A circuit breaker: after a failure it refuses calls for a second, instead of letting each of them wait."""

    def __init__(self) -> None:
        self._until = 0.0
        self._lock = threading.Lock()

    def run(self, work: Callable[["redis.Redis"], Answer]) -> Answer:
        if time.monotonic() < self._until:
            raise RedisUnavailable
        try:
            return work(client())
        except redis.RedisError as error:
            self._open(error)
            raise RedisUnavailable from error

    def _open(self, error: redis.RedisError) -> None:
        with self._lock:
            self._until = time.monotonic() + BREAK_SECONDS
        logger.warning("redis is away, going on without it", extra={"reason": type(error).__name__})

    def close(self) -> None:
        self._until = 0.0


circuit_breaker = CircuitBreaker()


def connect(*, timeout: float, connect_timeout: float | None = None) -> "redis.Redis":
    """Make a client without retries. The timeouts are in seconds.

    With Sentinels, each new connection first asks them for the primary server.
    """
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": connect_timeout or timeout,
        "retry": Retry(NoBackoff(), 0),
    }
    address = sentinel_address(settings.REDIS_URL)
    if address is None:
        return redis.Redis.from_url(settings.REDIS_URL, **options)
    sentinels = Sentinel(address.nodes, sentinel_kwargs={**options, **address.sentinel})
    return cast("redis.Redis", sentinels.master_for(address.primary, **address.server, **options))


def connect_async() -> "redis.asyncio.Redis":
    """Make a client for an event loop, which waits without a timeout for published messages.

    TCP keepalives detect a server that is gone.
    """
    options: dict[str, Any] = {"socket_timeout": None}
    if not settings.REDIS_URL.startswith("unix:"):
        keepalive = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}
        options |= {"socket_connect_timeout": 2.0, "socket_keepalive": True, "socket_keepalive_options": keepalive}
    address = sentinel_address(settings.REDIS_URL)
    if address is None:
        return redis.asyncio.Redis.from_url(settings.REDIS_URL, **options)
    sentinels = AsyncSentinel(address.nodes, sentinel_kwargs={**options, **address.sentinel})
    return cast("redis.asyncio.Redis", sentinels.master_for(address.primary, **address.server, **options))


@lru_cache(maxsize=1)
def client() -> "redis.Redis":
    """Return the process's client: 0.2 s to connect and to answer, no retries."""
    return connect(timeout=TIMEOUT_SECONDS)


def call_redis(work: Callable[["redis.Redis"], Answer]) -> Answer:
    """Call `work` with the client. Raises `RedisUnavailable`, at once or after a short wait."""
    return circuit_breaker.run(work)
