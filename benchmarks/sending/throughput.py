"""How fast the sender is: messages a second from their rows to the record, against its two ceilings in the same run."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from django.test import override_settings

from benchmarks.figures import Figure
from benchmarks.processes import Broken, fast_provider
from benchmarks.rounds import interleave, median_ratio
from benchmarks.sending.ceilings import NoSending, bare_loop
from benchmarks.sending.queue import BenchMessages, fill, left, numbers
from benchmarks.servers import Bench
from channelconnect.sending import loop
from config.http.client import Sender
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
MOST_MICROSECONDS = 125
MOST_OF_CEILINGS = 1 / 0.8
MOST_PYTHON = 60
BARE, PIPELINE = "the client's bare loop", "the sender, sending left out"
SENDER = f"the sender, {NUMBERS} numbers"


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds for each message: on the wall, and of processors in this process and in PostgreSQL's."""

    wall: float
    python: float
    postgresql: float


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
    return [*_figures(found), *_comparisons(found)]


def _figures(found: dict[str, list[Cost]]) -> Iterator[Figure]:
    base = [one.wall for one in found[SENDER]]
    for name, costs in found.items():
        walls = [one.wall for one in costs]
        python, postgresql = median(one.python for one in costs), median(one.postgresql for one in costs)
        yield Figure(
            name=name,
            measured=median(walls),
            unit="µs",
            ratio=median_ratio(walls, base),
            at_most=MOST_MICROSECONDS if name == SENDER else None,
            note=f"{1e6 / median(walls):,.0f} a second; {python:.0f} µs of Python, {postgresql:.0f} of PostgreSQL",
        )


def _comparisons(found: dict[str, list[Cost]]) -> Iterator[Figure]:
    walls = {name: [one.wall for one in costs] for name, costs in found.items()}
    both = [bare + rest for bare, rest in zip(walls[BARE], walls[PIPELINE], strict=True)]
    yield Figure(
        name="sender / both ceilings one after the other",
        measured=median_ratio(walls[SENDER], both),
        unit="x",
        at_most=MOST_OF_CEILINGS,
        note=f"{median_ratio(both, walls[SENDER]):.0%} of them",
    )
    yield Figure(
        name="processors' time of the sender's own process",
        measured=median(one.python for one in found[SENDER]),
        unit="µs",
        at_most=MOST_PYTHON,
    )


def _sender(postgresql: int, channels: Sequence[Channel], client: type[Any] = Sender) -> Cost:
    """Let a sender work until all are recorded."""
    fill(channels, MESSAGES)
    with patch.object(loop, "Sender", client):  # what the sender calls with is what is varied
        sender = loop.SenderRun(sources=[BenchMessages()], rates=None)
    cost = cost_of(postgresql, partial(_work, sender), MESSAGES)
    if left():
        raise Broken(f"The sender did not send {left()} messages.")
    return cost


def _work(sender: loop.SenderRun) -> None:
    until = time.monotonic() + PATIENCE_SECONDS

    def is_over() -> bool:
        recorded = sender.calls.finished >= MESSAGES and not sender.recorder.backlog
        return recorded or time.monotonic() > until

    sender.run(should_stop=is_over)


def cost_of(postgresql: int, work: Callable[[], None], messages: int) -> Cost:
    """Give what it costs to do something, for each of so many messages."""
    began, python, database = time.perf_counter(), time.process_time(), _server_seconds(postgresql)
    work()
    took = (
        time.perf_counter() - began,
        time.process_time() - python,
        _server_seconds(postgresql) - database,
    )
    return Cost(*(seconds / messages * 1e6 for seconds in took))


def _server_seconds(server: int) -> float:
    """Processors' time of a server and of all processes that it has and had."""
    fields = _stat(server)
    ticks = sum(fields[11:15])
    for child in Path(f"/proc/{server}/task/{server}/children").read_text().split():
        try:
            ticks += sum(_stat(int(child))[11:13])
        except FileNotFoundError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[int]:
    values = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return [0, *map(int, values[1:])]
