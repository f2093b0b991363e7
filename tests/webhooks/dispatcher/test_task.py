"""The Celery task that runs a dispatcher: it works until its worker stops, and has a queue of its own."""

import threading

import pytest

from config import queues as celery_queues
from config.celery import app
from config.celery import stopping as worker_end
from tests.tenants import Tenant
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import ended, record_events, subscribe
from webhooks import tasks
from webhooks.dispatcher.loop import LAST_ATTEMPTS_SECONDS, RUN_SECONDS
from webhooks.models import DispatcherRun


def test_the_task_works_until_its_worker_stops(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = threading.Event()
    monkeypatch.setattr(worker_end, "stopping", stopping)
    receiver = start_receiver()
    subscribe(a, receiver)
    worker = threading.Thread(target=tasks.deliver)
    worker.start()
    record_events(a)
    ended(a)
    worker_end.stop()
    worker.join(60)
    assert not worker.is_alive()
    tasks.deliver()
    assert len(receiver.requests) == 1


@pytest.mark.django_db(transaction=True)
def test_the_task_ends_in_order_before_its_hard_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = tasks.LONGEST_SECONDS
    monkeypatch.setattr(tasks, "LONGEST_SECONDS", 0.5)
    worker = threading.Thread(target=tasks.deliver)
    worker.start()
    worker.join(60)
    assert not worker.is_alive()
    assert not DispatcherRun.objects.exists()
    assert RUN_SECONDS < longest < longest + LAST_ATTEMPTS_SECONDS < celery_queues.DISPATCHER.hard_seconds


def test_the_dispatchers_queue_carries_calls_to_work_and_nothing_else() -> None:
    """A dispatcher that starts empties it."""
    app.loader.import_default_modules()
    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in app.tasks}
    assert {name for name, queue in queues.items() if queue == "dispatcher"} == {"webhooks.deliver"}
