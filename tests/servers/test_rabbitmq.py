"""RabbitMQ as Celery's broker, in place of Redis."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from config.health import BEAT_KEY, WORKER_KEY
from config.redis import attempt
from tests.processes.own_processes import celery_arguments, running, start, stop, variables
from tests.servers.programs import free_port, listens, program, server
from tests.webhooks.delivering import until
from webhooks.models import DispatcherRun

START_SECONDS = 60
END_SECONDS = 10
ASKS_WITHIN_SECONDS = 4  # beat's shortest interval is two


@dataclass(frozen=True, slots=True)
class RabbitMQ:
    """A running server: its address, and the group of its processes."""

    url: str
    process_group: int


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RabbitMQ]:
    """A RabbitMQ of this test's own."""
    rabbitmq, epmd = program("rabbitmq-server"), program("epmd")
    if os.geteuid() == 0:  # Debian's command becomes another user, whose folder this is not
        rabbitmq = program("/usr/lib/rabbitmq/bin/rabbitmq-server")
    port, own, names = free_port(), free_port(), free_port()
    environment = {
        "HOME": str(tmp_path),
        "RABBITMQ_BASE": str(tmp_path),
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(own),
        "RABBITMQ_MNESIA_BASE": str(tmp_path / "data"),
        "RABBITMQ_LOG_BASE": str(tmp_path / "log"),
        "RABBITMQ_CONFIG_FILE": str(tmp_path / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(tmp_path / "plugins"),
        "RABBITMQ_PID_FILE": str(tmp_path / "pid"),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(names),
    }
    (tmp_path / "plugins").write_text("[].")
    log = tmp_path / "rabbitmq.log"
    try:
        with server(rabbitmq, ready=lambda: listens(port), log=log, environment=environment) as process:
            try:
                yield RabbitMQ(f"amqp://guest:guest@127.0.0.1:{port}//", process.pid)
            finally:
                os.killpg(process.pid, signal.SIGCONT)
    finally:
        subprocess.run([epmd, "-kill"], env={**os.environ, **environment}, capture_output=True, check=False)


@pytest.mark.django_db(transaction=True)
def test_workers_beat_and_dispatchers_work_over_rabbitmq(broker: RabbitMQ) -> None:
    """Beat's calls come to the workers, more than once, and a dispatcher runs."""

    def seen() -> bool:
        return attempt(lambda redis: redis.exists(WORKER_KEY)) == 1

    with running("worker", "dispatcher", "beat", CELERY_BROKER_URL=broker.url):
        until(DispatcherRun.objects.exists, START_SECONDS)
        for _ in range(2):
            attempt(lambda redis: redis.delete(WORKER_KEY))
            until(seen, START_SECONDS)


@pytest.mark.django_db(transaction=True)
def test_beat_ends_at_once_while_rabbitmq_answers_nothing(broker: RabbitMQ) -> None:
    """Beat is asked to end while it waits for an answer, so that no other answer may be waited for then."""
    beat = start(celery_arguments("beat"), {**variables(), "CELERY_BROKER_URL": broker.url})
    try:
        attempt(lambda redis: redis.delete(BEAT_KEY))
        until(lambda: attempt(lambda redis: redis.exists(BEAT_KEY)) == 1, START_SECONDS)
        os.killpg(broker.process_group, signal.SIGSTOP)
        time.sleep(ASKS_WITHIN_SECONDS)
        beat.terminate()
        assert beat.wait(END_SECONDS) == 0
    finally:
        stop(beat)
