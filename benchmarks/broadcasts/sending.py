"""How fast a broadcast leaves: recipients a second from their rows to the record, against its two ceilings."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

from django.test import override_settings

from benchmarks.broadcasts.rows import broadcasts, people
from benchmarks.figures import Figure
from benchmarks.processes import Broken, fast_provider
from benchmarks.rounds import interleave, median_ratio
from benchmarks.sending.ceilings import NoSending, bare_loop
from benchmarks.sending.queue import numbers
from benchmarks.sending.throughput import Cost, cost_of
from benchmarks.servers import Bench
from broadcasts.models import Recipient
from broadcasts.sending.source import BroadcastRecipients
from channelconnect.sending import loop
from config.http.client import Sender
from workspaces.subaccounts.models import Channel

TITLE = (
    "Broadcasts: microseconds for each recipient from the prepared row to the recorded answer, one sender without\n"
    "pacing, a provider that answers at once, everything on the same cores. The ceilings: the bare loop of the client\n"
    "over requests that are ready, and the same pipeline with the sending left out; and with an allowance that counts\n"
    "everybody. Wanted: 125 µs, and 80 % of what both ceilings allow one after the other."
)
RECIPIENTS, NUMBERS = 12_000, 4
ROUNDS = 3
PATIENCE_SECONDS = 120.0
MOST_MICROSECONDS = 125
MOST_OF_CEILINGS = 1 / 0.8
BARE, PIPELINE, FULL = "the client's bare loop", "the sender, sending left out", "the sender"
COUNTED = "the sender, everybody counted"


def run(bench: Bench) -> list[Figure]:
    channels, postgresql = numbers(NUMBERS, NUMBERS), bench.pids["postgres"]
    people(channels, RECIPIENTS // NUMBERS)
    with fast_provider() as url, override_settings(META_GRAPH_URL=url):
        variants: dict[str, Callable[[], Cost]] = {
            BARE: partial(cost_of, postgresql, partial(bare_loop, channels, RECIPIENTS), RECIPIENTS),
            PIPELINE: partial(_sender, postgresql, channels, client=NoSending),
            FULL: partial(_sender, postgresql, channels),
            COUNTED: partial(_sender, postgresql, channels, limit=1_000_000),
        }
        found = interleave(variants, rounds=ROUNDS)
    return list(_figures(found))


def _figures(found: dict[str, list[Cost]]) -> Iterator[Figure]:
    walls = {name: [one.wall for one in costs] for name, costs in found.items()}
    for name, costs in found.items():
        python, postgresql = median(one.python for one in costs), median(one.postgresql for one in costs)
        yield Figure(
            name=name,
            measured=median(walls[name]),
            unit="µs",
            ratio=median_ratio(walls[name], walls[FULL]),
            at_most=MOST_MICROSECONDS if name == FULL else None,
            note=f"{1e6 / median(walls[name]):,.0f}/s; {python:.0f} µs of Python, {postgresql:.0f} of PostgreSQL",
        )
    both = [bare + rest for bare, rest in zip(walls[BARE], walls[PIPELINE], strict=True)]
    yield Figure(
        name="sender / both ceilings one after the other",
        measured=median_ratio(walls[FULL], both),
        unit="x",
        at_most=MOST_OF_CEILINGS,
        note=f"{median_ratio(both, walls[FULL]):.0%} of them",
    )


def _sender(
    postgresql: int, channels: Sequence[Channel], *, client: type[Any] = Sender, limit: int | None = None
) -> Cost:
    """Let a sender work until all are recorded."""
    Channel.objects.update(messaging_limit=limit)
    broadcasts(channels, RECIPIENTS // NUMBERS)
    with patch.object(loop, "Sender", client):  # what the sender calls with is what is varied
        sender = loop.SenderRun(sources=[BroadcastRecipients()], rates=None)
    cost = cost_of(postgresql, partial(_work, sender), RECIPIENTS)
    left = Recipient.objects.exclude(status="sent").count()
    if left:
        raise Broken(f"The sender did not send to {left} recipients.")
    return cost


def _work(sender: loop.SenderRun) -> None:
    until = time.monotonic() + PATIENCE_SECONDS

    def is_over() -> bool:
        recorded = sender.calls.finished >= RECIPIENTS and not sender.recorder.backlog
        return recorded or time.monotonic() > until

    sender.run(should_stop=is_over)
