"""The short form of `make chaos`, so that every change is held against it."""

import os
import re
import subprocess
import sys

import pytest

from tools.local import ROOT

LINE = re.compile(r"holds +kills +seed 15: 1,500 deliveries, 0 lost, (\d+) duplicates \((\d+) allowed, 0 others\)")
OURS = ("DATABASE_URL", "REDIS_URL", "ENVIRONMENT", "DJANGO_SETTINGS_MODULE", "WEBHOOK_ALLOWED_NETWORKS")


@pytest.mark.slow
def test_dispatchers_killed_at_random_lose_nothing_and_repeat_only_what_was_in_flight() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.chaos", "kills", "--deliveries", "1500", "--seed", "15"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in OURS},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = LINE.search(ran.stdout)
    assert found, ran.stdout
    assert 0 < int(found[1]) <= int(found[2])
