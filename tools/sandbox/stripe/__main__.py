"""Runs a stand-in for Stripe: `python -m tools.sandbox.stripe --port 8091`."""

import argparse
import signal
import sys
import threading

from tools.sandbox.stripe.server import StripeServer


def main(argv: list[str]) -> int:
    """Serve until SIGTERM or ^C."""
    parser = argparse.ArgumentParser(prog="tools.sandbox.stripe", description="A stand-in for Stripe.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8091, help="0 takes any free one")
    chosen = parser.parse_args(argv)
    with StripeServer(chosen.host, chosen.port) as server:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
        sys.stdout.write(f"STRIPE_API_URL={server.url}\n")
        sys.stdout.flush()
        server.serve_forever(poll_interval=0.2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
