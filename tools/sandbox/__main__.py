"""Runs a sandbox: `python -m tools.sandbox --port 8090 --redirect-uri http://127.0.0.1:8000/connect/callback`."""

import argparse
import os
import signal
import sys
import threading

from tools.sandbox.config import SECRETS, SandboxConfig, variables
from tools.sandbox.server import SandboxServer


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.sandbox", description="A stand-in for Meta's Graph API.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090, help="0 takes any free one")
    parser.add_argument(
        "--redirect-uri", action="append", default=[], help="an address consent may return to; may be repeated"
    )
    parser.add_argument("--callback-url", default="", help="where callbacks to the product are posted")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Serve until SIGTERM or ^C."""
    chosen = arguments(argv)
    config = SandboxConfig.read(redirect_uris=tuple(chosen.redirect_uri), callback_url=chosen.callback_url)
    with SandboxServer(config, chosen.host, chosen.port) as server:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
        sys.stdout.write(f"sandbox provider at {server.url}\n")
        if not all(os.environ.get(name) for name in SECRETS):  # new secrets were made, and the product needs them
            sys.stdout.writelines(f"{name}={text}\n" for name, text in variables(server.url, config).items())
        sys.stdout.flush()
        server.serve_forever(poll_interval=0.2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
