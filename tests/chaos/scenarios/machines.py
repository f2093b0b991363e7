"""What machines do: clocks that are wrong, and a disk that is full."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.faults import clocks, disk
from tests.chaos.scenarios.scenario import Scenario, Skipped
from tests.chaos.workload import Workload
from tools.local.runner.web import get

PRELOADED = {"PYTHONPATH": str(Path(__file__).resolve().parent.parent / "preload")}
# Seconds that the clocks of these processes are ahead.
CLOCKS = {"web": 5, "worker": 5, "dispatcher": 5, "dispatcher-2": -3600, "beat": -5}


def skewed(workload: Workload) -> None:
    """Hosts ten seconds apart, one an hour back, and the database's clock put back an hour."""
    workload.injections.plan(["wrong clock"] * len(CLOCKS))
    workload.injections.plan(["clock put back", "kill of dispatcher child"])
    workload.rest(8)
    clocks.count_skewed(workload, len(CLOCKS))
    clocks.put_back_an_hour(workload)
    workload.rest(8)


_disks: dict[str, Path] = {}


def prepare_disk(workload: Workload, stack: ExitStack) -> Mapping[str, str]:
    try:
        _disks[workload.system.name] = disk.small_disk(workload.system.servers, stack)
    except disk.CannotMount as reason:
        raise Skipped(str(reason)) from reason
    return {}


def full_disk(workload: Workload) -> None:
    """A full disk is not ready, refuses with 503 and forgets nothing; with room again everything goes on."""
    workload.injections.plan(["full disk"] * 2)
    for _ in range(2):
        workload.rest(3)
        disk.fill(workload, _disks[workload.system.name], 6, lambda: _look(workload))


def _look(workload: Workload) -> None:
    if get(workload.system.port, "/readyz")[0] == 200:
        workload.wrong.append("ready with a full disk")


def own_clocks(ahead: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Give the environment variables of processes whose clocks are so many seconds ahead."""
    return {name: {"CHAOS_CLOCK": str(seconds), "CHAOS_PROCESS": name} for name, seconds in ahead.items()}


MACHINES = {
    "clocks": Scenario(
        skewed, 120, more=("dispatcher-2",), clock_off=3700.0, variables=PRELOADED, own=own_clocks(CLOCKS)
    ),
    "disk": Scenario(full_disk, 180, prepare=prepare_disk),
}
