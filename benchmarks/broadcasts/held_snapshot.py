"""Measures what an old snapshot, as a dump or a lagging replica holds it, costs the sender of broadcasts."""

import os
import time
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any, Final
from unittest.mock import patch

from django.test import override_settings

from benchmarks.broadcasts.rows import broadcasts, people
from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.sending.ceilings import NoSending
from benchmarks.sending.queue import numbers
from benchmarks.servers import Bench
from benchmarks.snapshots import with_and_without
from broadcasts.models import Recipient
from broadcasts.sending.source import BroadcastRecipients
from channelconnect.sending import loop
from channelconnect.sending.sources import ClaimedMessage

# SNAPSHOT_RECIPIENTS=1000000 takes minutes. A number has at most as many recipients as its allowance has room for.
RECIPIENTS: Final = int(os.environ.get("SNAPSHOT_RECIPIENTS", "100000"))
NUMBERS: Final = max(4, RECIPIENTS // 62_500)
ROUNDS = 1
PATIENCE_SECONDS: Final = 30 + RECIPIENTS / 2_000
TITLE = (
    f"A held snapshot: microseconds for each of {RECIPIENTS:,} recipients, claimed and recorded with the sending left\n"
    "out, and milliseconds that a claim took in the end (the last fifth). No dead row is cleared away meanwhile."
)


class TimedRecipients(BroadcastRecipients):
    """The source, which also notes how long each claim took that gave any rows."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: list[float] = []

    def claim(self, *args: Any, **values: Any) -> Sequence[ClaimedMessage]:
        began = time.perf_counter()
        claimed = super().claim(*args, **values)
        if claimed:
            self.claims.append(time.perf_counter() - began)
        return claimed


def run(_: Bench) -> list[Figure]:
    channels = numbers(NUMBERS, NUMBERS)
    people(channels, RECIPIENTS // NUMBERS)
    with override_settings(META_GRAPH_URL="http://127.0.0.1:9999"):  # no provider is called
        return list(with_and_without(partial(broadcasts, channels, RECIPIENTS // NUMBERS), _send, rounds=ROUNDS))


def _send() -> tuple[float, float]:
    source = TimedRecipients()
    with patch.object(loop, "HTTPClient", NoSending):
        sender = loop.SenderLoop(sources=[source], rates=None)
    began = time.monotonic()
    sender.run(
        should_stop=lambda: (
            time.monotonic() - began > PATIENCE_SECONDS
            or (sender.calls.finished >= RECIPIENTS and not sender.recorder.backlog)
        )
    )
    took = time.monotonic() - began
    if Recipient.objects.exclude(status="sent").exists():
        raise Broken("The sender did not send to everybody.")
    return took / RECIPIENTS * 1e6, median(source.claims[-len(source.claims) // 5 :]) * 1000
