"""The short form of `make chaos`, so that every change is held against it, and one mutation that it has to notice."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.limits import LimitReached, as_a_whole, limited_to
from tests.chaos.limits import _Whole as whole
from tests.chaos.outcome import Outcome
from tests.database.dump import VARIABLE
from tests.processes.unmeasured import unmeasured
from tests.waiting import until
from tools.local import ROOT

PLAYED = ("short", "mutation:secret")
HOLDS = re.compile(
    r"^holds +short .* (\d+)/(\d+) faults, ([\d,]+) told .* 0 lost, .* 0 others\), 0 foreign", re.MULTILINE
)
CAUGHT = re.compile(r"^caught +secret .* BROKEN, .*X-Svc-Signature does not fit the body", re.MULTILINE)
OURS = ("DATABASE_URL", "REDIS_URL", "ENVIRONMENT", "DJANGO_SETTINGS_MODULE", "WEBHOOK_ALLOWED_NETWORKS")


@pytest.mark.slow
def test_each_kind_of_fault_costs_nothing_that_was_confirmed_and_a_broken_product_is_noticed(
    migrated_dump: Path | None,
) -> None:
    begun_with = {VARIABLE: str(migrated_dump)} if migrated_dump else {}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *PLAYED, "--seed", "15"],
        cwd=ROOT,
        env={name: value for name, value in unmeasured(os.environ).items() if name not in OURS} | begun_with,
        capture_output=True,
        text=True,
        timeout=1_500,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = HOLDS.search(ran.stdout)
    assert found, ran.stdout
    assert int(found[1]) >= int(found[2]) >= 10
    assert CAUGHT.search(ran.stdout), ran.stdout


def test_a_limit_that_is_reached_while_a_process_starts_waits_until_it_is_known_to_whoever_ends_it() -> None:
    known = []

    def start() -> None:
        with as_a_whole(), limited_to(0.01):
            until(lambda: whole.was_reached, what="the limit")
            known.append("a process")

    with pytest.raises(LimitReached):
        start()
    assert known


GOOD = Outcome(planned=2, injected=2, told=1)


def test_a_scenario_that_lost_nothing_holds() -> None:
    assert GOOD.holds


@pytest.mark.parametrize(
    "flaw",
    [
        {"injected": 1},
        {"planned": 0, "injected": 0},
        {"told": 0},
        {"unknown": 1},
        {"lost": 1},
        {"foreign": 1},
        {"inexcusable": 1},
        {"pause": 60.0},
        {"wrong": ["a call hung"]},
    ],
    ids=lambda flaw: " ".join(flaw),
)
def test_a_scenario_is_broken(flaw: dict[str, Any]) -> None:
    """By too few faults as by every promise that was not kept."""
    assert replace(GOOD, **flaw).word == "BROKEN"
