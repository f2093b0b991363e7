"""Measures the way from messages to planned answers: facts recorded, decided, runs, steps and messages written."""

import gc
import time
from collections.abc import Callable, Sequence

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.automations.rows import automations, replace_texts_by_keywords, waiting_runs
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
# Each contact writes one message.
WORKSPACES, EACH, PEOPLE, MESSAGES, BATCH, WAITING = 20, 200, 1_000, 20_000, 1_000, 200_000


def run(_: Bench) -> list[Figure]:
    of = automations(each=EACH, workspaces=WORKSPACES)

    def texts(name: str) -> list[MessageReceived]:
        return messages(of, name, MESSAGES, people=PEOPLE)

    quiet = received_seconds(texts("warm"))
    engine_seconds()
    unanswered = received_seconds(texts("none"))
    decided = engine_seconds() / MESSAGES
    received = received_seconds(replace_texts_by_keywords(texts("hits"), EACH))
    answered = engine_seconds() / MESSAGES
    waiting_runs(of[0], WAITING)
    return [
        _figure("a message received, with its fact", received, received),
        _figure("a fact that starts nothing, decided", decided, received),
        _figure("a fact that starts a run, answered", answered, received),
        _figure("the whole way of an answered message", received + answered, received),
        Figure(
            name=f"a turn without work, beside {WAITING:,} waiting runs",
            measured=idle_turn() * 1e3,
            unit="ms",
            at_most=10,
            note=f"{quiet * 1e6:,.0f} and {unanswered * 1e6:,.0f} µs for receiving alone",
        ),
    ]


def _figure(name: str, seconds: float, base: float) -> Figure:
    note = f"{1 / seconds:,.0f} a second and core"
    return Figure(name=name, measured=seconds * 1e6, unit="µs", ratio=seconds / base, note=note)


def received_seconds(facts: Sequence[MessageReceived]) -> float:
    """Receive messages as readers do; give the processor seconds for each."""
    gc.freeze()

    def receive() -> None:
        for batch in batches(facts, BATCH):
            with transaction.atomic():
                inbound.lock_channels({fact.channel.id for fact in batch})
                inbound.receive_messages(batch, now=timezone.now())

    return _measured(receive) / len(facts)


def engine_seconds(engine: Engine | None = None) -> float:
    """Work until nothing is due, with a new engine or a given one; give the processor seconds."""
    engine = engine or Engine()
    engine.begin()

    def work() -> None:
        while engine.run_turn():
            pass

    try:
        return _measured(work)
    finally:
        engine.end()


def idle_turn() -> float:
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
