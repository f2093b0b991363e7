"""The command behind `make run`: `python -m tools.local.run [--state DIR] [--port N] [--no-summary]`."""

import argparse
import os
import sys
from pathlib import Path

from tools.local.runner import Options, run

from tools.local import STATE

HIGHEST_PORT = 65_535


def port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number from 0 to {HIGHEST_PORT}")
    return int(text)


def options(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="tools.local.run", description="Runs the whole system on this machine.")
    parser.add_argument("--state", type=Path, default=STATE, help="the folder of its data (default: .local)")
    parser.add_argument("--port", type=port, default=os.environ.get("PORT") or 8000, help="0 takes any free one")
    parser.add_argument("--no-summary", action="store_true", help="print no keys")
    parser.add_argument("--forgetful", action="store_true", help="trade the data's safety for speed")
    parser.add_argument("--revive", action="store_true", help="replace a process that dies instead of ending all")
    chosen = parser.parse_args(arguments)
    return Options(
        state=chosen.state,
        port=chosen.port,
        durable=not chosen.forgetful,
        revives=chosen.revive,
        shows_summary=not chosen.no_summary,
    )


if __name__ == "__main__":
    sys.exit(run(options(sys.argv[1:])))
