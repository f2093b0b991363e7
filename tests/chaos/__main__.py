"""`python -m tests.chaos [name …] [--seed N] [--deliveries N]`: break everything; status 1 when a promise is not kept.

Prints of each scenario how many deliveries were lost, how many came twice and how many might have, and the longest
pause. With the same seed the same things are done, though never at the very same moments.
"""

import argparse
import random
import sys
import time

from tests.chaos.system import System, running_system
from tools.local.runner.signals import stop_signals


def print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.chaos")
    parser.add_argument("names", nargs="*", metavar="name", help="kills, frozen, doubles, restarts, crashes or redis")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--deliveries", type=int, default=20_000)
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    try:
        with stop_signals(), running_system() as built:
            broken = play(built, chosen.names, chosen.seed, chosen.deliveries)
            if not broken:
                built.log.unlink()
    except KeyboardInterrupt:
        return 130
    print_line(
        f"{time.monotonic() - started:.0f} s" + (f", the workers' output is in {built.log.name}" if broken else "")
    )
    return 1 if broken else 0


def play(built: System, names: list[str], seed: int, deliveries: int) -> int:
    """Play the scenarios of these names, or all; says how many were broken."""
    from tests.chaos.scenarios import SCENARIOS  # late, since it needs the settings

    broken = 0
    for name in names or SCENARIOS:
        outcome = SCENARIOS[name].play(built, random.Random(f"{seed} {name}"), deliveries)
        print_line(f"{'holds ' if outcome.holds else 'BROKEN'}  {name:<9} seed {seed}: {outcome}")
        broken += not outcome.holds
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
