"""The runner, with what dies started again, as a service manager does where the product is installed.

The product's processes are forks of one that has loaded the product.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from tests.processes.forks import Forks
from tools.local.runner import runner
from tools.local.runner.plan import Plan, whole_system
from tools.local.runner.supervisor import Child, Supervisor, kill_group

# What events need to be delivered, and deposits to be paid; `readyz` also asks for the worker and beat.
NEEDED = ("web", "worker", "housekeeping", "dispatcher", "beat", "stripe")
# What is killed is killed with all that it has started, so that one web process does. Three of the worker's tasks never
# end; the others take turns.
SMALLER = {"web": ("--workers", "1"), "worker": ("-c", "6")}


def needed_by_the_demonstration(state: Path, port: int) -> Plan:
    """Give the product's plan without the processes that the demonstration has no work for."""
    plan = whole_system(state, port)
    needed = [child for child in plan.children if child.name in NEEDED]
    smaller = [replace(child, command=(*child.command, *SMALLER.get(child.name, ()))) for child in needed]
    return replace(plan, children=tuple(smaller))


class ForkingSupervisor(Supervisor):
    def __init__(self, names: Sequence[str], env: Mapping[str, str]) -> None:
        super().__init__(names, env)
        self.forks = Forks(self.env)

    def start(self, child: Child) -> None:
        """Fork what is needed; the preparation has to load the product by itself, as it may migrate."""
        if child.name in NEEDED:
            self.processes[child.name] = self.forks.start(child.command)
        else:
            super().start(child)

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        super().stop(hurry)
        self.forks.end()


class RestartingSystem(runner.System):
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
    with patch.object(runner, "Supervisor", ForkingSupervisor):
        sys.exit(runner.run(parser.parse_args().state, 0, needed_by_the_demonstration, RestartingSystem))
