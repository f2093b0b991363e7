"""Sends what a process has measured to Redis: sums into one hash, gauges into a key that expires after the process.

So one exporter sees the processes of all hosts, and nobody has to clean up after a process that died. While Redis is
away, the sums wait in the process.
"""

import os
import secrets
import socket
import threading
import time
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings

from config.metrics.declarations import METRICS, Gauge
from config.metrics.recording import on_first, put_back, reported, take
from config.redis import connect

EVERY_SECONDS = 2.0
SILENCE_SECONDS = 15
TIMEOUT_SECONDS = 1.0
TOTALS = "metrics:totals"
PROCESSES = "metrics:processes"
PROCESS = "metrics:process:{}"
HOST = socket.gethostname()
_offset_seconds = 0.0


def furthest(values: list[float]) -> float:
    """Return the value that is furthest from zero."""
    return max(values, key=abs)


METRICS.add(
    Gauge(
        "host_clock_offset_seconds",
        "How far a host's clock is ahead of Redis's, as its processes last saw it.",
        label="host",
        combine=furthest,
    )
)


@lru_cache(maxsize=1)
def _client(pid: int) -> "redis.Redis":
    return connect(timeout=TIMEOUT_SECONDS)


@lru_cache(maxsize=1)
def _process(pid: int) -> str:
    return f"{HOST}:{pid}:{secrets.token_hex(4)}"


def publish() -> bool:
    """Send everything to Redis; False if Redis does not take it now."""
    taken, pid = take(), os.getpid()
    try:
        client = _client(pid)
        _look_at_clock(client)
        _send(client, taken, _process(pid))
    except redis.RedisError:
        put_back(taken)
        return False
    return True


def _look_at_clock(client: "redis.Redis") -> None:
    global _offset_seconds
    before = time.time()
    seconds, microseconds = client.time()
    _offset_seconds = (before + time.time()) / 2 - (seconds + microseconds / 1e6)


def _send(client: "redis.Redis", taken: dict[str, float], process: str) -> None:
    key = PROCESS.format(process)
    with client.pipeline() as together:
        for field, amount in taken.items():
            together.hincrbyfloat(TOTALS, field, amount)
        gauges: dict[Any, Any] = {**reported(), f"host_clock_offset_seconds|{HOST}": _offset_seconds}
        together.hset(key, mapping=gauges)
        together.expire(key, SILENCE_SECONDS)
        together.sadd(PROCESSES, process)
        together.execute()


def _publish_for_ever() -> None:
    while True:
        time.sleep(EVERY_SECONDS)
        publish()


def begin() -> None:
    """Start this process's thread."""
    if settings.METRICS_PUBLISHED:
        threading.Thread(target=_publish_for_ever, name="metrics", daemon=True).start()


on_first(begin)
