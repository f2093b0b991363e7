"""Redis flushed, stopped, killed, silent and reset."""

import signal
from collections.abc import Callable

import redis

from tests.chaos.workload import Workload


def flush(workload: Workload) -> None:
    """Empty Redis while the product uses it."""
    if workload.has_traffic():
        with redis.Redis.from_url(workload.system.servers.valkey.url()) as client:
            workload.injections.count("flush of Redis", happened=bool(client.flushall()))


def freeze(workload: Workload, seconds: float) -> None:
    process = workload.system.servers.valkey.process
    if not workload.has_traffic() or process is None:
        return
    with workload.system.frozen(process.pid, seconds=seconds):
        workload.injections.count("frozen Redis")
        workload.rest(seconds)


def kill(workload: Workload, meanwhile: Callable[[], None]) -> None:
    """Kill Redis, do something without it, and start it again."""
    server = workload.system.servers.valkey
    if not workload.has_traffic():
        return
    server.stop(signal.SIGKILL)
    workload.injections.count("kill of Redis", happened=not server.is_running)
    meanwhile()
    server.start()


def fall_silent(workload: Workload, seconds: float) -> None:
    """Pass no byte between the product and Redis."""
    if not workload.has_traffic():
        return
    workload.system.redis.fall_silent()
    workload.rest(seconds)
    workload.injections.count("silent Redis", happened=workload.system.redis.held > 0)
    workload.system.redis.pass_again()


def reset(workload: Workload, seconds: float) -> None:
    """Reset every connection between the product and Redis."""
    if not workload.has_traffic():
        return
    workload.injections.count("reset of Redis' connections", happened=workload.system.redis.reset() > 0)
    workload.rest(seconds)
    workload.system.redis.pass_again()
