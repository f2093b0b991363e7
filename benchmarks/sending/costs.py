"""Measures a sender's run up to the last record, and compares its figures with its two ceilings."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.figures import Figure
from benchmarks.rounds import median_ratio
from channelconnect.sending import loop
from channelconnect.sending.sources import MessageSource
from config.http.client import HTTPClient

MOST_MICROSECONDS = 125
MOST_OF_CEILINGS = 1 / 0.8
BARE, PIPELINE = "the client's bare loop", "the sender, sending left out"


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds for each message: wall-clock time, and processor time of this process and of PostgreSQL."""

    wall: float
    python: float
    postgresql: float


def sender_cost(
    postgresql: int, source: MessageSource, messages: int, *, client: type[Any] = HTTPClient, patience_seconds: float
) -> Cost:
    """Let a sender without pacing work until `messages` messages are recorded, or its time is over."""
    with patch.object(loop, "HTTPClient", client):  # the variants differ in the client
        sender = loop.SenderLoop(sources=[source], rates=None)
    return cost_of(postgresql, partial(_work, sender, messages, patience_seconds), messages)


def _work(sender: loop.SenderLoop, messages: int, patience_seconds: float) -> None:
    until = time.monotonic() + patience_seconds

    def is_over() -> bool:
        recorded = sender.calls.finished >= messages and not sender.recorder.backlog
        return recorded or time.monotonic() > until

    sender.run(should_stop=is_over)


def cost_of(postgresql: int, work: Callable[[], None], messages: int) -> Cost:
    """Give the cost of `work` for each of `messages` messages."""
    began, python, database = time.perf_counter(), time.process_time(), processor_seconds(postgresql)
    work()
    took = (time.perf_counter() - began, time.process_time() - python, processor_seconds(postgresql) - database)
    return Cost(*(seconds / messages * 1e6 for seconds in took))


def processor_seconds(process: int) -> float:
    """Give the processor time of a process and of all its children."""
    fields = _stat(process)
    ticks = sum(fields[11:15])
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        try:
            ticks += sum(_stat(int(child))[11:13])
        except FileNotFoundError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[int]:
    values = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return [0, *map(int, values[1:])]


def figures_of(found: Mapping[str, Sequence[Cost]], whole: str) -> Iterator[Figure]:
    """Give a figure for each variant with its ratio to the whole pipeline, and one for it against both ceilings."""
    walls = {name: [one.wall for one in costs] for name, costs in found.items()}
    for name, costs in found.items():
        python, postgresql = median(one.python for one in costs), median(one.postgresql for one in costs)
        yield Figure(
            name=name,
            measured=median(walls[name]),
            unit="µs",
            ratio=median_ratio(walls[name], walls[whole]),
            at_most=MOST_MICROSECONDS if name == whole else None,
            note=f"{1e6 / median(walls[name]):,.0f}/s; {python:.0f} µs of Python, {postgresql:.0f} of PostgreSQL",
        )
    both = [bare + rest for bare, rest in zip(walls[BARE], walls[PIPELINE], strict=True)]
    yield Figure(
        name="sender / both ceilings one after the other",
        measured=median_ratio(walls[whole], both),
        unit="x",
        at_most=MOST_OF_CEILINGS,
        note=f"{median_ratio(both, walls[whole]):.0%} of them",
    )
