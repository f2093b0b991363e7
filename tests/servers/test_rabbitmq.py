"""RabbitMQ as Celery's broker, in place of Redis."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings as project

from config.health import BEAT_KEY, WORKER_KEY
from config.redis import call_redis
from tests.processes.forked_celery import celery_order
from tests.processes.preloaded import Preloaded
from tests.servers.programs import free_port, listens, program, server, unread
from tests.tools.local.processes import is_alive
from tests.waiting import until
from webhooks.models import DispatcherRun

START_SECONDS = 60
END_SECONDS = 25  # less than the half minute for which a broker without an answer would be waited for
# Beat asks something within two seconds, and has its answer soon.
QUESTION_SECONDS, ANSWER_SECONDS = 5.0, 0.5
DROPPED = "client unexpectedly closed TCP connection"


@dataclass(frozen=True, slots=True)
class RabbitMQ:
    """A running server: its port, the group of its processes, and where its log lies."""

    port: int
    process_group: int
    log_folder: Path

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    @property
    def settings(self) -> dict[str, object]:
        """Those of a process that has it as its broker: unlike Redis, it needs no options."""
        redis = ("visibility_timeout", "socket_connect_timeout")
        options = project.CELERY_BROKER_TRANSPORT_OPTIONS.items()
        return {
            "CELERY_BROKER_URL": self.url,
            "CELERY_BROKER_TRANSPORT_OPTIONS": {name: value for name, value in options if name not in redis},
        }

    @property
    def log(self) -> str:
        return "".join(path.read_text(errors="replace") for path in self.log_folder.glob("*.log"))

    @contextmanager
    def stopped_amid_a_question(self) -> Iterator[None]:
        """Let it answer nothing until the block ends, with a question that it has not read.

        One that it had just read when it was stopped is waited for as well, but nobody could see that: then it goes on,
        and is stopped once more.
        """
        try:
            until(self._was_stopped_amid_a_question, START_SECONDS)
            yield
        finally:
            os.killpg(self.process_group, signal.SIGCONT)

    def _was_stopped_amid_a_question(self) -> bool:
        os.killpg(self.process_group, signal.SIGSTOP)
        end = time.monotonic() + QUESTION_SECONDS
        while not unread(self.port):
            if time.monotonic() > end:
                os.killpg(self.process_group, signal.SIGCONT)
                time.sleep(ANSWER_SECONDS)
                return False
            time.sleep(0.01)
        return True


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMQ]:
    """A RabbitMQ for these tests alone, whose start takes longest here."""
    rabbitmq, epmd = program("rabbitmq-server"), program("epmd")
    if os.geteuid() == 0:  # Debian's command becomes another user, whose folder this is not
        rabbitmq = program("/usr/lib/rabbitmq/bin/rabbitmq-server")
    folder = tmp_path_factory.mktemp("rabbitmq")
    port, own, names = free_port(), free_port(), free_port()
    environment = {
        "HOME": str(folder),
        "RABBITMQ_BASE": str(folder),
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(own),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(names),
    }
    (folder / "plugins").write_text("[].")
    with (
        server(epmd, ready=lambda: listens(names), environment=environment),
        server(rabbitmq, ready=lambda: listens(port), environment=environment) as process,
    ):
        yield RabbitMQ(port, process.pid, folder / "log")


@pytest.mark.django_db(transaction=True)
def test_workers_beat_and_dispatchers_work_over_rabbitmq_and_beat_ends_at_once_while_it_answers_nothing(
    broker: RabbitMQ, preloaded: Preloaded
) -> None:
    """Beat's calls come to the workers, more than once, and a dispatcher runs.

    Then beat, alone, is asked to end while it waits for an answer, so that no other answer may be waited for.
    """

    def seen(key: str) -> bool:
        return call_redis(lambda redis: redis.exists(key)) == 1

    def forget(key: str) -> None:
        call_redis(lambda redis: redis.delete(key))

    with preloaded.asked_to_end(celery_order("beat", broker.settings)) as beat:
        # Three of the worker's tasks never end. The others take turns in its fourth process.
        with (
            preloaded.asked_to_end(celery_order("worker", broker.settings, more=("-c", "4"))),
            preloaded.asked_to_end(celery_order("dispatcher", broker.settings)),
        ):
            until(DispatcherRun.objects.exists, what="the dispatcher")
            for _ in range(2):
                forget(WORKER_KEY)
                until(lambda: seen(WORKER_KEY), what="a call of beat's to come to the worker")
        forget(BEAT_KEY)
        until(lambda: seen(BEAT_KEY), what="beat to go on")
        with broker.stopped_amid_a_question():
            dropped = broker.log.count(DROPPED)
            os.kill(beat, signal.SIGTERM)
            until(lambda: not is_alive(beat), END_SECONDS, what="beat to end")
        until(lambda: broker.log.count(DROPPED) > dropped, what="its connection")  # without a word to be answered
