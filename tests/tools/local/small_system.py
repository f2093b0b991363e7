"""The runner with a substitute for the product: some small processes, on real servers."""

import argparse
import sys
from pathlib import Path

from tools.local.runner.plan import Plan, whole_system
from tools.local.runner.runner import run
from tools.local.runner.supervisor import Child, python

SLEEPER = "import time; print('awake', flush=True); time.sleep(600)"
# Ignores the request to end, as does the process that it starts.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("grandchild", grandchild.pid, flush=True)
time.sleep(600)
"""
CHILDREN = {
    "one": Child("one", python("-c", SLEEPER)),
    "two": Child("two", python("-c", SLEEPER)),
    "stubborn": Child("stubborn", python("-c", STUBBORN)),
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--children", nargs="*", default=["one", "two"])
    parser.add_argument("--is-prepared", action="store_true", help="prepare the database as the product does")
    chosen = parser.parse_args()
    children = tuple(CHILDREN[name] for name in chosen.children)

    def plan(state: Path, port: int) -> Plan:
        preparation = whole_system(state, port).preparation if chosen.is_prepared else None
        return Plan(children=children, preparation=preparation, has_web=False)

    return run(chosen.state, chosen.port, plan)


if __name__ == "__main__":
    sys.exit(main())
