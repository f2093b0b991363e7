"""Processes of the product killed or stopped, started twice, and called twice."""

import time

from config.celery import app
from tests.chaos.system.processes import is_stopped
from tests.chaos.workload import Workload

# Name of the process, and whether its child is meant.
VICTIMS = {
    "dispatcher child": ("dispatcher", True),
    "dispatcher": ("dispatcher", False),
    "beat": ("beat", False),
    "worker child": ("worker", True),
    "worker": ("worker", False),
    "web child": ("web", True),
    "web": ("web", False),
}


def kill(workload: Workload, victim: str) -> None:
    """kill -9 in the midst of the work."""
    name, is_child = VICTIMS[victim]
    if not (workload.has_traffic() and _is_there(workload, name)):
        return
    began = time.monotonic()
    if workload.system.processes.kill(name, child=is_child):
        workload.injections.count(f"kill of {victim}")
        if name == "dispatcher":
            workload.excuses.add(since=began)


def _is_there(workload: Workload, name: str, seconds: float = 60.0) -> bool:
    """Wait for a process that was killed before to be there again, with the child that its kind has."""
    processes, until = workload.system.processes, time.monotonic() + seconds
    while time.monotonic() < until:
        if processes.is_running(name) and (name.startswith("beat") or processes.children_of(name)):
            return True
        workload.rest(0.1)
    return False


def freeze_dispatcher(workload: Workload, seconds: float) -> None:
    """A dispatcher stopped in the middle for so long, while a second one is there."""
    children = workload.system.processes.children_of("dispatcher")
    if not workload.has_traffic() or not children:
        return
    began = time.monotonic()
    with workload.system.frozen(*children, seconds=seconds):
        workload.injections.count("frozen dispatcher", happened=all(is_stopped(child) for child in children))
        workload.excuses.add(since=began)
        workload.system.processes.start("dispatcher-2")
        workload.rest(seconds + 1)


def send_every_task(workload: Workload) -> None:
    """Send each task of the schedule once more."""
    if not workload.has_traffic():
        return
    for entry in app.conf.beat_schedule.values():
        app.send_task(entry["task"])
    workload.injections.count("doubled tasks")
