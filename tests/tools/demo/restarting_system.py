"""The runner, with what dies started again, as a service manager does where the product is installed."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from tools.local.runner.plan import Plan, whole_system
from tools.local.runner.runner import System, run
from tools.local.runner.supervisor import kill_group

# What events need to be delivered; `readyz` also asks for the worker and beat.
NEEDED = ("web", "worker", "dispatcher", "beat")
# What is killed is killed with all that it has started, so that one process of each does.
SMALLER = {"web": ("--workers", "1")}


def needed_by_the_demonstration(state: Path, port: int) -> Plan:
    """Give the product's plan without the processes that the demonstration has no work for."""
    plan = whole_system(state, port)
    needed = [child for child in plan.children if child.name in NEEDED]
    smaller = [replace(child, command=(*child.command, *SMALLER.get(child.name, ()))) for child in needed]
    return replace(plan, children=tuple(smaller))


class RestartingSystem(System):
    def check_children(self) -> None:
        for child in self.plan.children:
            process = self.children.processes.get(child.name)
            if process and process.poll() is not None:
                kill_group(process)
                self.children.start(child)
                self._publish(ready=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    sys.exit(run(parser.parse_args().state, 0, planner=needed_by_the_demonstration, system=RestartingSystem))
