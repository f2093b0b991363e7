"""The command behind `make run`: `python -m tools.local.run [--state DIR] [--port N]`."""

import argparse
import os
import sys
from pathlib import Path

from tools.local import STATE
from tools.local.runner.runner import run
from tools.local.variables import DEFAULT_PORT

HIGHEST_PORT = 65_535


def port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number from 0 to {HIGHEST_PORT}")
    return int(text)


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.local.run", description="Runs the whole system on this machine.")
    parser.add_argument("--state", type=Path, default=STATE, help="the folder of its data (default: .local)")
    parser.add_argument(
        "--port", type=port, default=os.environ.get("PORT") or DEFAULT_PORT, help="0 takes any free one"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    chosen = options(sys.argv[1:])
    sys.exit(run(chosen.state, chosen.port))
