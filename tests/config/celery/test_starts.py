"""What the start of a process of the product loads, and how it collects garbage."""

import subprocess
import sys

from tests.processes.own_processes import variables
from tools.local import ROOT

STARTED = """
import gc, sys, django
django.setup()
print(gc.isenabled(), gc.get_freeze_count())

from config.celery import app

def print_loaded():
    print("config.urls" in sys.modules, "channelconnect.tasks" in sys.modules)

app.loader.init_worker()
print_loaded()
app.Worker(concurrency=15, queues=["due-work"])
print_loaded()
"""
# Half of what a start makes.
MANY_OBJECTS = 200_000


def test_beat_and_workers_load_tasks_but_no_views_and_collect_no_garbage_among_what_their_start_has_made() -> None:
    environment = {**variables(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    run = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    collects, beat, worker = run.stdout.splitlines()
    enabled, frozen = collects.split()
    assert enabled == "True"
    assert int(frozen) > MANY_OBJECTS
    assert beat.split() == ["False", "True"], "beat"
    assert worker.split() == ["False", "True"], "a worker"
