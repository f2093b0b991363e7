"""The runner, with what dies started again, as a service manager does where the product is installed."""

import argparse
import sys
from pathlib import Path

from tools.local.runner.runner import System, run
from tools.local.runner.supervisor import kill_group


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
    sys.exit(run(parser.parse_args().state, 0, system=RestartingSystem))
