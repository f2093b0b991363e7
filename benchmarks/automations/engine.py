"""Measures the way from messages to planned answers: facts recorded, decided, runs, steps and messages written."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.automations.rows import automations, keyword, waiting_runs
from benchmarks.conversations.facts import batches, messages
from benchmarks.conversations.inbound import processor_seconds
from benchmarks.figures import Figure
from benchmarks.servers import Bench
from workspaces.automations.engine.loop import Engine
from workspaces.conversations.facts import MessageReceived
from workspaces.conversations.services import inbound

TITLE = (
    "Automations: from messages to planned answers, committed, by one process. Time of processors, its own and its\n"
    "database connection's, beside what receiving the same messages costs without automations that are on."
)
MESSAGES, BATCH, EACH, WAITING = 20_000, 1_000, 200, 200_000


def run(_: Bench) -> list[Figure]:
    of = automations(each=EACH)
    quiet = _received(messages(of, "warm", MESSAGES))
    _engine_seconds()
    unanswered = _received(messages(of, "none", MESSAGES))
    decided = _engine_seconds() / MESSAGES
    hits = [
        replace(message, text=f"Hello, {keyword(number, EACH)} please?")
        for number, message in enumerate(messages(of, "hits", MESSAGES))
    ]
    received = _received(hits)
    answered = _engine_seconds() / MESSAGES
    waiting_runs(of[0], WAITING)
    return [
        _figure("a message received, with its fact", received, received),
        _figure("a fact that starts nothing, decided", decided, received),
        _figure("a fact that starts a run, answered", answered, received),
        _figure("the whole way of an answered message", received + answered, received),
        Figure(
            name=f"a turn without work, beside {WAITING:,} waiting runs",
            measured=_idle_turn() * 1e3,
            unit="ms",
            at_most=10,
            note=f"{quiet * 1e6:,.0f} and {unanswered * 1e6:,.0f} µs for receiving alone",
        ),
    ]


def _figure(name: str, seconds: float, base: float) -> Figure:
    note = f"{1 / seconds:,.0f} a second and core"
    return Figure(name=name, measured=seconds * 1e6, unit="µs", ratio=seconds / base, note=note)


def _received(facts: Sequence[MessageReceived]) -> float:
    """Receive messages as readers do; give the processor seconds for each."""
    gc.freeze()

    def receive() -> None:
        for batch in batches(facts, BATCH):
            with transaction.atomic():
                inbound.lock_channels({fact.channel.id for fact in batch})
                inbound.receive_messages(batch, now=timezone.now())

    return _measured(receive) / len(facts)


def _engine_seconds() -> float:
    """Work until nothing is due; give the processor seconds."""
    engine = Engine()
    engine.begin()

    def work() -> None:
        while engine.run_turn():
            pass

    try:
        return _measured(work)
    finally:
        engine.end()


def _idle_turn() -> float:
    engine = Engine()
    engine.begin()
    engine.run_turn()
    began = time.perf_counter()
    for _ in range(20):
        engine.run_turn()
    taken = (time.perf_counter() - began) / 20
    engine.end()
    return taken


def _measured(work: Callable[[], None]) -> float:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE automations_triggerevent, automations_contactqueue, conversations_message")
    began = processor_seconds()
    work()
    return processor_seconds() - began
