"""Measures how soon the dispatcher gives up a receiver that never ends its answer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.dispatcher.queue import fill
from benchmarks.figures import Figure
from benchmarks.processes import Broken, started
from benchmarks.receivers.endless_receiver import WAYS
from benchmarks.rows import agency_with
from benchmarks.servers import Bench
from webhooks.dispatcher import loop
from webhooks.models import Attempt

TITLE = (
    "Release: seconds that an attempt at a receiver without end takes, the longest of three, as the dispatcher\n"
    "recorded it. Ten seconds bound the whole attempt, five of them the way to a connection that stands."
)
ATTEMPTS = 3
WHOLE, CONNECT, MARGIN = 10.0, 5.0, 0.1
LIMITS = dict(zip(WAYS, (WHOLE, WHOLE, WHOLE, CONNECT, CONNECT), strict=True))
TLS = "hangs in the TLS handshake"


def run(_: Bench) -> list[Figure]:
    agency = agency_with(1)[0]
    with _endless_receivers() as urls:
        fill([agency], [url for url in urls.values() for _ in range(ATTEMPTS)], ATTEMPTS * len(urls))
        _work_until(ATTEMPTS * len(urls))
    return [_figure(way, url) for way, url in urls.items()]


@contextmanager
def _endless_receivers() -> Iterator[dict[str, str]]:
    with started("benchmarks.receivers.endless_receiver", quiet=False) as process:
        if process.stdout is None:
            raise Broken("The receiver has no output.")
        ports = process.stdout.readline().split()
        process.stdout.close()
        yield {
            way: f"{'https' if way == TLS else 'http'}://127.0.0.1:{int(port)}/"
            for way, port in zip(WAYS, ports, strict=True)
        }


def _work_until(attempts: int) -> None:
    """Let a dispatcher work until `attempts` attempts are recorded."""
    dispatcher = loop.Dispatcher()
    until = time.monotonic() + WHOLE + CONNECT
    dispatcher.run(
        should_stop=lambda: (
            time.monotonic() > until or (dispatcher.sent >= attempts and not dispatcher.recorder.backlog)
        )
    )


def _figure(way: str, url: str) -> Figure:
    took = list(Attempt.objects.filter(url=url, number=1).values_list("duration_ms", flat=True))
    if len(took) < ATTEMPTS:
        raise Broken(f"A receiver that {way} was not let go.")
    return Figure(name=way, measured=max(took) / 1000, unit="s", at_most=LIMITS[way] + MARGIN)
