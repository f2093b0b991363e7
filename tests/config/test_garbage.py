"""When Python collects garbage in a process of the product."""

import subprocess
import sys

from tests.processes.own_processes import variables
from tools.local import ROOT

STARTED = """
import gc, os, django
django.setup()
print(gc.isenabled(), gc.get_freeze_count())
"""
# Half of what a start makes.
MANY_OBJECTS = 200_000


def test_a_started_process_collects_garbage_but_not_among_what_its_start_has_made() -> None:
    environment = {**variables(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    run = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    enabled, frozen = run.stdout.split()
    assert enabled == "True"
    assert int(frozen) > MANY_OBJECTS
