"""Measures the sender's messages a second, compared with its two ceilings in the same run."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from django.test import override_settings

from benchmarks.figures import Figure
from benchmarks.processes import Broken, fast_provider
from benchmarks.rounds import interleave
from benchmarks.sending.ceilings import NoSending, bare_loop
from benchmarks.sending.costs import BARE, PIPELINE, Cost, cost_of, figures_of, sender_cost
from benchmarks.sending.queue import BenchMessages, fill, left, numbers
from benchmarks.servers import Bench
from config.http.client import HTTPClient
from workspaces.subaccounts.models import Channel

TITLE = (
    "Sends: microseconds for each template message from its row to the recorded answer, one sender without pacing, a\n"
    "provider that answers at once over kept connections, everything on the same cores. The ceilings: the bare loop\n"
    "of the client over requests that are ready, and the same pipeline with the sending left out. Wanted: 125 µs, and\n"
    "80 % of what both ceilings allow one after the other."
)
MESSAGES = 20_000
NUMBERS, AGENCIES, MANY = 20, 4, 200
ROUNDS = 5
PATIENCE_SECONDS = 60.0
MOST_PYTHON = 60
SENDER = f"the sender, {NUMBERS} numbers"


def run(bench: Bench) -> list[Figure]:
    channels = numbers(MANY, AGENCIES)
    few, postgresql = channels[:: MANY // NUMBERS], bench.pids["postgres"]
    with fast_provider() as url, override_settings(META_GRAPH_URL=url):
        variants: dict[str, Callable[[], Cost]] = {
            BARE: partial(cost_of, postgresql, partial(bare_loop, few, MESSAGES), MESSAGES),
            PIPELINE: partial(_sender, postgresql, few, NoSending),
            SENDER: partial(_sender, postgresql, few),
            "the sender, one number": partial(_sender, postgresql, few[:1]),
            f"the sender, {MANY} numbers": partial(_sender, postgresql, channels),
        }
        found = interleave(variants, rounds=ROUNDS)
    return [*figures_of(found, SENDER), _own_process(found[SENDER])]


def _own_process(costs: Sequence[Cost]) -> Figure:
    return Figure(
        name="processors' time of the sender's own process",
        measured=median(one.python for one in costs),
        unit="µs",
        at_most=MOST_PYTHON,
    )


def _sender(postgresql: int, channels: Sequence[Channel], client: type[Any] = HTTPClient) -> Cost:
    """Let a sender work until all messages are recorded."""
    fill(channels, MESSAGES)
    cost = sender_cost(postgresql, BenchMessages(), MESSAGES, client=client, patience_seconds=PATIENCE_SECONDS)
    if left():
        raise Broken(f"The sender did not send {left()} messages.")
    return cost
