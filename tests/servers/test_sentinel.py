"""Redis by Sentinel: counters, wake-ups and Celery's calls go to whichever server is the primary one now."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from redis import Redis

from config import redis as config_redis
from config.api.throttling import RateLimit, count_request
from config.celery import wake_up
from config.environment import celery_broker, sentinel_address
from config.leases.claimer import WakeUpListener
from tests.processes.starting import Process
from tests.servers.programs import free_port, listens, server
from tests.waiting import PATIENCE_SECONDS, until
from tools.local.servers.binaries import find_valkey

# After so long without an answer the Sentinel takes a server for dead.
SHORT_MS, LONG_MS = 1_000, 3_600_000


@dataclass
class Group:
    """A primary server, its replica, and the Sentinel that watches them."""

    url: str
    primary: Process
    sentinel: Redis

    def fail_over_after(self, milliseconds: int) -> None:
        """Set after how long without an answer from the primary server the other one takes its place."""
        self.sentinel.sentinel_set("ours", "down-after-milliseconds", milliseconds)


@pytest.fixture
def group(tmp_path: Path, settings: Any) -> Iterator[Group]:
    """The product behind a Sentinel."""
    valkey, (primary, replica, watcher) = str(find_valkey()), (free_port() for _ in range(3))
    common = ("--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path))
    config = tmp_path / "sentinel.conf"
    config.write_text(
        f"port {watcher}\nbind 127.0.0.1\nsentinel monitor ours 127.0.0.1 {primary} 1\n"
        f"sentinel down-after-milliseconds ours {LONG_MS}\nsentinel failover-timeout ours 5000\n"
    )
    with ExitStack() as stack:

        def start(port: int, *arguments: str) -> Process:
            return stack.enter_context(server(valkey, *arguments, ready=lambda: listens(port)))

        first = start(primary, "--port", str(primary), *common)
        start(replica, "--port", str(replica), "--replicaof", "127.0.0.1", str(primary), *common)
        start(watcher, str(config), "--sentinel")
        sentinel = stack.enter_context(Redis(port=watcher))
        until(lambda: sentinel.sentinel_slaves("ours"), what="the replica to be known")
        settings.REDIS_URL = f"sentinel://127.0.0.1:{watcher}/0?primary=ours"
        config_redis.client.cache_clear()
        config_redis.circuit_breaker.close()
        yield Group(settings.REDIS_URL, first, sentinel)
        config_redis.client().close()
        config_redis.client.cache_clear()
        config_redis.circuit_breaker.close()


def counted() -> bool:
    return count_request(RateLimit("sentinel-test", 1_000)) is not None


def test_limits_wake_ups_and_calls_survive_the_death_of_the_primary_server(
    group: Group, django_capture_on_commit_callbacks: Any, db: None
) -> None:
    woken = threading.Event()
    listener = WakeUpListener("sentinel-test", woken.set)
    listener.thread.start()
    broker, options = celery_broker(group.url)
    app = Celery(broker=broker, set_as_current=False)
    app.conf.broker_transport_options = {**options, "max_retries": 1}

    def wakes() -> bool:
        with django_capture_on_commit_callbacks(execute=True):
            wake_up("sentinel-test")
        return woken.wait(1)

    def calls() -> int:
        with app.connection_for_write() as connection:
            queue = connection.SimpleQueue("sentinel-test")
            queue.put("call")
            waiting = queue.qsize()
            queue.close()
        return waiting

    assert counted()
    assert until(wakes)
    assert calls() == 1
    group.primary.kill()
    group.fail_over_after(SHORT_MS)
    until(counted)
    group.fail_over_after(LONG_MS)
    woken.clear()
    assert until(wakes)
    assert calls() >= 1
    listener.stop()
    listener.thread.join(PATIENCE_SECONDS)


def test_the_address_names_sentinels_credentials_and_database() -> None:
    found = sentinel_address("sentinel://us%40er:pass@one:1,two/3?primary=ours&sentinel_password=other")
    assert found is not None
    assert found.nodes == (("one", 1), ("two", 26379))
    assert found.server == {"db": 3, "username": "us@er", "password": "pass"}
    assert found.sentinel == {"password": "other"}
    broker, options = celery_broker("sentinel://us%40er:pass@one:1,two/3?primary=ours&sentinel_password=other")
    assert broker == "sentinel://us%40er:pass@one:1/3;sentinel://us%40er:pass@two:26379/3"
    assert options == {"master_name": "ours", "sentinel_kwargs": {"password": "other"}}


@pytest.mark.parametrize("url", ["sentinel://one:1/0", "sentinel:///0?primary=ours"])
def test_an_address_without_a_sentinel_or_a_name_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="primary"):
        sentinel_address(url)


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("unix:///run/valkey.sock?db=2", "redis+socket:///run/valkey.sock?virtual_host=2"),
        ("rediss://redis.example.com/0", "rediss://redis.example.com/0"),
        ("amqp://user@rabbit.example.com//", "amqp://user@rabbit.example.com//"),
    ],
)
def test_other_addresses_are_celery_s_own(url: str, broker: str) -> None:
    assert celery_broker(url) == (broker, {})
