"""`python -m tests.chaos [name …] [--seed N]`: break everything; status 1 when a promise is not kept.

`mutations` breaks the product itself, in one way after the other (`mutation:secret` in one of them): then the status is
0 when each was noticed. `controls` plays what those are played under, without them.

Prints of each scenario whether it holds, how many faults were planned and injected, and what the clients were told
against what arrived. With the same seed the same things are done, though never at the very same moments.
"""

import argparse
import logging
import random
import sys
import time

from tests.chaos.system.system import Servers, running_servers
from tools.local.runner.signals import stop_signals

MUTATION = "mutation:"


def print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.chaos")
    parser.add_argument("names", nargs="*", metavar="name", help="scenarios, or mutations; all scenarios without one")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    sys.setswitchinterval(0.0005)  # clients, receivers and networks are threads of this process, and each waits often
    try:
        with stop_signals(), running_servers() as servers:
            broken = play(servers, chosen.names, chosen.seed)
            if not broken:
                servers.log.unlink()
    except KeyboardInterrupt:
        return 130
    print_line(
        f"{time.monotonic() - started:.0f} s" + (f", the processes' output is in {servers.log}" if broken else "")
    )
    return 1 if broken else 0


def play(servers: Servers, names: list[str], seed: int) -> int:
    """Play scenarios, all of them without a name, and mutations; says how many were not as they have to be."""
    import django

    django.setup()
    for handler in logging.root.handlers:
        handler.setLevel(logging.CRITICAL)  # that things are away is the point
    from tests.chaos.mutations.catalogue import MUTATIONS  # late, since they need the settings
    from tests.chaos.scenarios import ALL, CONTROLS, SCENARIOS

    groups = {"mutations": [MUTATION + key for key in MUTATIONS], "controls": list(CONTROLS)}
    wanted = [name for chosen in names or SCENARIOS for name in groups.get(chosen, [chosen])]
    known = [*ALL, *groups["mutations"]]
    if unknown := sorted({*wanted} - {*known}):
        print_line(f"There is no {', '.join(unknown)}. There are: {', '.join([*groups, *known])}.")
        return len(unknown)
    broken = 0
    for name in wanted:
        if name.startswith(MUTATION):
            key = name.removeprefix(MUTATION)
            word, outcome = MUTATIONS[key].play(servers, key, seed)
            print_line(f"{word:<11} {key:<9} {MUTATIONS[key].title}, seed {seed}: {outcome.word}, {outcome}")
            broken += word != "caught"
        else:
            outcome = ALL[name].play(servers, name, seed)
            print_line(f"{outcome.word:<7} {name:<9} seed {seed}: {outcome}")
            broken += not outcome.holds
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
