"""What the start of a process of Celery loads."""

import subprocess
import sys

import pytest

from tests.processes.own_processes import variables
from tools.local import ROOT

LOADED = """
import sys
from config.celery import app
app.loader.init_worker()
{begin}
print("config.urls" in sys.modules, "channelconnect.tasks" in sys.modules)
"""
WORKER = "app.Worker(concurrency=15, queues=['due-work'])"


@pytest.mark.parametrize("begin", [pytest.param("", id="beat"), pytest.param(WORKER, id="a worker")])
def test_it_loads_the_tasks_but_no_routes_with_all_their_views(begin: str) -> None:
    environment = {**variables(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    run = subprocess.run(
        [sys.executable, "-c", LOADED.format(begin=begin)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["False", "True"]
