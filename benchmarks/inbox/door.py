"""Measures how fast callbacks are answered while a reader works through a full inbox on the same cores."""

import hashlib
import hmac
import http.client
import os
import threading
import time
from collections import Counter
from statistics import median, quantiles

from benchmarks.figures import Figure
from benchmarks.inbox.bodies import body, channels, fill, messages
from benchmarks.processes import Broken, started
from benchmarks.servers import Bench
from benchmarks.web.client import server
from channelconnect.models import ProviderNotice
from workspaces.subaccounts.models import Channel

TITLE = (
    "The door of provider callbacks: milliseconds from a signed POST of one message to its 200, 200 a second over\n"
    "four connections, alone and while a reader works off 80,000 messages on the same cores. Ratios are to the\n"
    "median alone."
)
PATH = "/connect/provider-events"
SECRET = "a secret of the benchmark's"  # noqa: S105  # of a server that ends with the run
CLIENTS, EACH_SECOND, SECONDS = 4, 200, 6.0
# More than a reader of the wanted speed reads during the measurement.
WAITING, TOGETHER = 80_000, 100
MOST_MS = 50.0


def run(_: Bench) -> list[Figure]:
    numbers = channels(20)
    with server(META_APP_SECRET=SECRET) as port:
        _load(port, numbers, "warm", 1.0)
        alone = _load(port, numbers, "alone", SECONDS)
        fill(
            body(numbers[first // TOGETHER % 20], **messages(range(first, first + TOGETHER), "full"))
            for first in range(0, WAITING, TOGETHER)
        )
        with started("benchmarks.inbox.reader"):
            _wait_for_reader()
            beside = _load(port, numbers, "beside", SECONDS)
            if not ProviderNotice.objects.filter(read_at=None).exists():
                raise Broken("The reader was done before the load.")
    ProviderNotice.objects.filter(read_at=None).delete()  # the next benchmark needs an empty inbox
    base = median(alone)
    return [
        Figure(name="alone, median", measured=base, unit="ms", ratio=1),
        Figure(name="alone, p99", measured=_p99(alone), unit="ms", ratio=_p99(alone) / base),
        Figure(name="beside a reader, median", measured=median(beside), unit="ms", ratio=median(beside) / base),
        Figure(
            name="beside a reader, p99",
            measured=_p99(beside),
            unit="ms",
            ratio=_p99(beside) / base,
            at_most=MOST_MS,
            note=f"{len(beside)} callbacks in {SECONDS:.0f} s",
        ),
    ]


def _p99(milliseconds: list[float]) -> float:
    return quantiles(milliseconds, n=100)[98]


def _wait_for_reader() -> None:
    until = time.monotonic() + 30
    while not ProviderNotice.objects.exclude(read_at=None).exists():
        if time.monotonic() > until:
            raise Broken("The reader does not read.")
        time.sleep(0.05)


def _load(port: int, numbers: list[Channel], run: str, seconds: float) -> list[float]:
    """Post at a steady rate; the time of a late call counts from the moment when it was due."""
    taken: list[float] = []
    statuses: Counter[int] = Counter()
    begun = time.monotonic() + 0.1

    def post(client: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for number in range(client, int(seconds * EACH_SECOND), CLIENTS):
            content = body(numbers[number % 20], **messages([number], run))
            due = begun + number / EACH_SECOND
            time.sleep(max(0.0, due - time.monotonic()))
            proof = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
            headers = {"X-Hub-Signature-256": f"sha256={proof}", "Content-Type": "application/json"}
            connection.request("POST", PATH, content, headers)
            answer = connection.getresponse()
            answer.read()
            taken.append((time.monotonic() - due) * 1_000)
            statuses[answer.status] += 1
        connection.close()

    threads = [threading.Thread(target=post, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if set(statuses) != {200}:
        raise Broken(f"The door answered {dict(statuses)} in process {os.getpid()}.")
    return taken
