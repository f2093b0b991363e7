"""Measures the usual designs: the time from the first task of a full queue to the last record."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

import redis
from celery import Celery
from django.conf import settings
from django.db import connection

from agency.models import Agency
from benchmarks.celery_tasks.names import KEPT, PACKAGE, PLAIN, QUEUE, WAITING
from benchmarks.dispatcher.queue import BODY, fill
from benchmarks.processes import Broken, started
from tools.local import ROOT
from webhooks.models import Delivery

SETTINGS = "benchmarks.celery_tasks.settings"
DELIVERIES = 300
PATIENCE_SECONDS = 60.0
NAMES = {
    KEPT: "the usual design, connections kept",
    PLAIN: "the usual design, requests.post",
    PACKAGE: "the published package django-webhook",
}
# A task's arguments, by position and by name.
Task = tuple[tuple[Any, ...], dict[str, Any]]
PAYLOAD = json.dumps({"object": BODY.decode()[7:], "topic": "bench"})


def variants(stack: ExitStack, agencies: Sequence[Agency], urls: Sequence[str]) -> dict[str, Callable[[], float]]:
    """Start the worker for as long as `stack` is open; give the variants, the package's only if it is installed."""
    if find_spec("django_webhook") is None:
        print("django-webhook is not installed: `make bench` installs it.", file=sys.stderr)
        return {}
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": SETTINGS}
    migrate = [sys.executable, "-m", "django", "migrate", "django_webhook", "--verbosity=0"]
    subprocess.run(migrate, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
    worker = ("celery", "-A", "benchmarks.celery_tasks.worker", "worker", "-Q", QUEUE, "-c", str(os.cpu_count()))
    stack.enter_context(started(*worker, "--without-gossip", "--without-mingle", environment=environment))
    app = stack.enter_context(Celery("bench", broker=settings.CELERY_BROKER_URL))
    ours = {name: partial(_plain, app, name, agencies, urls) for name in (KEPT, PLAIN)}
    return {NAMES[name]: run for name, run in {**ours, PACKAGE: partial(_package, app, urls)}.items()}


def _plain(app: Celery, task: str, agencies: Sequence[Agency], urls: Sequence[str]) -> float:
    fill(agencies, urls, DELIVERIES)
    tasks: list[Task] = [((identity,), {}) for identity in Delivery.objects.values_list("pk", flat=True)]
    return _measure(app, task, tasks, "SELECT count(*) FROM webhooks_delivery WHERE status = 'success'")


def _package(app: Celery, urls: Sequence[str]) -> float:
    """Deliver with the package's own task, which keeps an event with its state for each delivery, but no attempts."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE django_webhook_webhook, django_webhook_webhookevent CASCADE")
        cursor.execute(
            "INSERT INTO django_webhook_webhook (url, active, uuid, created, modified) "
            "SELECT url, true, gen_random_uuid(), now(), now() FROM unnest(%s::text[]) url RETURNING id",
            [list(urls)],
        )
        hooks = [row[0] for row in cursor.fetchall()]
        secrets = [(hook, f"whsec_{uuid4().hex}") for hook in hooks]
        cursor.executemany(
            "INSERT INTO django_webhook_webhooksecret (webhook_id, token, created) VALUES (%s, %s, now())", secrets
        )
    tasks = [((hooks[number % len(hooks)], PAYLOAD), {"topic": "bench"}) for number in range(DELIVERIES)]
    return _measure(app, PACKAGE, tasks, "SELECT count(*) FROM django_webhook_webhookevent WHERE status = 'SUCCESS'")


def _measure(app: Celery, task: str, tasks: Sequence[Task], done: str) -> float:
    """Give the worker all tasks at one moment; give the microseconds for each until `done` counts all."""
    with app.connection_for_write() as broker, app.amqp.Producer(broker) as producer:
        for args, kwargs in tasks:
            app.send_task(task, args=args, kwargs=kwargs, queue=WAITING, producer=producer)
    queue = redis.Redis.from_url(settings.REDIS_URL)
    began = time.perf_counter()
    queue.rename(WAITING, QUEUE)
    queue.close()
    while _count(done) < len(tasks):
        if time.perf_counter() - began > PATIENCE_SECONDS:
            raise Broken(f"{task} did not deliver everything.")
        time.sleep(0.01)
    return (time.perf_counter() - began) / len(tasks) * 1e6


def _count(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])
