"""Measures how many recipients a second a sender handles, compared with two ceilings and with two senders."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.test import override_settings

from benchmarks.broadcasts.rows import broadcasts, people
from benchmarks.broadcasts.senders import make_due, put_off, senders, sent, wait_until
from benchmarks.figures import Figure
from benchmarks.processes import Broken, fast_provider
from benchmarks.rounds import interleave
from benchmarks.sending.ceilings import NoSending, bare_loop
from benchmarks.sending.costs import (
    BARE,
    MOST_MICROSECONDS,
    PIPELINE,
    Cost,
    cost_of,
    figures_of,
    processor_seconds,
    sender_cost,
)
from benchmarks.sending.queue import numbers
from benchmarks.servers import Bench
from broadcasts.models import Recipient
from broadcasts.sending.source import BroadcastRecipients
from config.http.client import HTTPClient
from workspaces.subaccounts.models import Channel

TITLE = (
    "Broadcasts: microseconds for each recipient from the prepared row to the recorded answer, one sender without\n"
    "pacing, a provider that answers at once, everything on the same cores. The ceilings: the bare loop of the client\n"
    "over requests that are ready, and the same pipeline with the sending left out; and with an allowance that counts\n"
    "everybody. Wanted: 125 µs, and 80 % of what both ceilings allow one after the other. Last, two senders in\n"
    "processes of their own, as an installation has them, that share the numbers."
)
RECIPIENTS, NUMBERS = 12_000, 4
SENDERS, SHARED_RECIPIENTS, SHARED_NUMBERS = 2, 40_000, 32
WARM = 2_000
ROUNDS = 3
PATIENCE_SECONDS = 120.0
FULL, COUNTED = "the sender", "the sender, everybody counted"


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
        shared = _shared(postgresql, url)
    return [*figures_of(found, FULL), shared]


def _shared(postgresql: int, url: str) -> Figure:
    """Let several senders work. The time starts when all are at work, and ends before the last few, which end alone."""
    channels = numbers(SHARED_NUMBERS, NUMBERS)
    people(channels, SHARED_RECIPIENTS // SHARED_NUMBERS)
    Channel.objects.update(messaging_limit=None)
    broadcasts(channels, SHARED_RECIPIENTS // SHARED_NUMBERS)
    put_off()
    with senders(SENDERS, url) as processes:
        make_due()
        wait_until(lambda: sent() >= WARM, PATIENCE_SECONDS)
        first, began, before = sent(), time.perf_counter(), _seconds(processes, postgresql)
        wait_until(lambda: sent() >= SHARED_RECIPIENTS - WARM, PATIENCE_SECONDS)
        number, took = sent() - first, time.perf_counter() - began
        python, database = (
            (after - earlier) / number * 1e6
            for after, earlier in zip(_seconds(processes, postgresql), before, strict=True)
        )
    return Figure(
        name=f"{SENDERS} senders",
        measured=took / number * 1e6,
        unit="µs",
        at_most=MOST_MICROSECONDS,
        note=f"{number / took:,.0f}/s; {python:.0f} µs of Python, {database:.0f} of PostgreSQL",
    )


def _seconds(processes: Sequence[int], postgresql: int) -> tuple[float, float]:
    return sum(map(processor_seconds, processes)), processor_seconds(postgresql)


def _sender(
    postgresql: int, channels: Sequence[Channel], *, client: type[Any] = HTTPClient, limit: int | None = None
) -> Cost:
    """Let a sender work until all recipients are recorded."""
    Channel.objects.update(messaging_limit=limit)
    broadcasts(channels, RECIPIENTS // NUMBERS)
    cost = sender_cost(postgresql, BroadcastRecipients(), RECIPIENTS, client=client, patience_seconds=PATIENCE_SECONDS)
    left = Recipient.objects.exclude(status="sent").count()
    if left:
        raise Broken(f"The sender did not send to {left} recipients.")
    return cost
