"""`python -m tools.demo`: shows each signed event of changes over the agency API, then appointments and payments."""

import argparse
import sys
from pathlib import Path

from tools.demo.api import DemoFailed
from tools.demo.bookings import LocalSystem
from tools.demo.run import Timing, run_demo
from tools.local import STATE
from tools.local.state import BOOTSTRAP, read_json, running_variables
from tools.local.variables import chosen_port, public_url

DEFAULT = "default: %(default)s"


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.demo", description="Shows the main job on the running system.")
    parser.add_argument("--base-url", metavar="URL", help="default: the running system's")
    parser.add_argument("--key", metavar="KEY", help="an agency key; default: the one that `make run` printed")
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument(
        "--sub-accounts", type=int, default=5, metavar="N", help=f"0 shows appointments and payments only; {DEFAULT}"
    )
    parser.add_argument(
        "--pause", type=float, default=Timing.pause, metavar="SECONDS", help=f"for each event to come; {DEFAULT}"
    )
    parser.add_argument(
        "--wait", type=float, default=Timing.wait, metavar="SECONDS", help=f"for the last events; {DEFAULT}"
    )
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Give the exit status: 1, with a sentence on stderr, if something went wrong."""
    chosen = arguments(argv)
    key = chosen.key or read_json(chosen.state / BOOTSTRAP).get("agency_key")
    if not key:
        return _failed("No agency key is known here: start the system with `make run`, or give --key.")
    try:
        went_well = run_demo(
            base_url=chosen.base_url or running_variables(chosen.state).get("PUBLIC_URL") or public_url(chosen_port()),
            key=key,
            sub_accounts=max(0, chosen.sub_accounts),
            timing=Timing(pause=max(0.0, chosen.pause), wait=max(0.0, chosen.wait)),
            output=sys.stdout,
            local=None if chosen.base_url or chosen.key else LocalSystem.read(chosen.state),
        )
    except (DemoFailed, OSError) as failure:  # `requests` raises errors of input and output
        return _failed(str(failure))
    except KeyboardInterrupt:
        _failed("Stopped.")
        return 130
    return 0 if went_well else _failed("The demonstration did not end well: see the lines marked ✗.")


def _failed(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
