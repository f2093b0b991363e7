"""Runs one command while the servers run: `python -m tools.local.command [--throwaway] -- COMMAND…`."""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from tools.local import STATE
from tools.local.errors import CannotStart
from tools.local.parent_death import parent_death_signal
from tools.local.servers.starting import started_servers
from tools.local.state import held, running_variables, throwaway
from tools.local.variables import chosen_port, development_variables


def run_command(command: list[str], state: Path, *, is_throwaway: bool) -> int:
    """Give the command's exit status. It uses the servers that already run on this state folder, if there are any."""
    running = {} if is_throwaway else running_variables(state)
    if running:
        return _run(command, running)
    base = state.with_name(f"{state.name}-command")
    holding = throwaway(base) if is_throwaway else held(state)
    with holding as folder, started_servers(folder, durable=not is_throwaway) as servers:
        return _run(command, {**development_variables(folder, port=chosen_port()), **servers.env})


def _run(command: list[str], variables: dict[str, str]) -> int:
    # ^C reaches the command as well, and the command decides what to do. The servers stay until it has ended.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    process = subprocess.Popen([*parent_death_signal(), *command], env={**os.environ, **variables})
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools.local.command", description="Runs a command with the servers up.")
    parser.add_argument("--state", type=Path, default=STATE, help="the folder of the data (default: .local)")
    parser.add_argument("--throwaway", action="store_true", help="use empty servers, removed afterwards")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(arguments)
    try:
        return run_command(chosen.command, chosen.state, is_throwaway=chosen.throwaway)
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
