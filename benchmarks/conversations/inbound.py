"""Measures how one process applies and commits facts of networks: incoming messages, and statuses."""

import gc
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.conversations.facts import batches, channels, messages, sent_messages, statuses
from benchmarks.figures import Figure
from benchmarks.servers import Bench
from workspaces.conversations.services import inbound

TITLE = (
    "Conversations: facts in, committed, by one process. Time of processors, its own and its database connection's;\n"
    "ratios are to bare statements over the same rows. Wanted of the whole way, on two cores: 10,000 messages and\n"
    "30,000 statuses a second, which is 200 and 66 µs each, of which parsing has its share."
)
MESSAGES, STATUSES_EACH, BATCH = 20_000, 3, 2_000
BARE_INSERT = """
INSERT INTO conversations_message (uuid, workspace_id, channel_id, conversation_id, direction, type, text, status,
    provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at)
SELECT gen_random_uuid(), workspace_id, channel_id, conversation_id, direction, type, text, status,
    'bare-' || provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at
FROM conversations_message WHERE direction = 'in' ORDER BY id DESC LIMIT %s
"""
BARE_UPDATE = "UPDATE conversations_message SET status = 'sent' WHERE direction = 'out'"


def run(_: Bench) -> list[Figure]:
    of = channels()
    first = _apply(inbound.receive_messages, messages(of, "first", MESSAGES))
    known = _apply(inbound.receive_messages, messages(of, "known", MESSAGES))
    bare = _timed(BARE_INSERT, [MESSAGES]) / MESSAGES
    sent = sent_messages(STATUSES_EACH)
    moved = [_apply(inbound.apply_statuses, statuses(of, sent, status)) for status in ("delivered", "read")]
    updated = _timed(BARE_UPDATE) / len(sent)
    return [
        _figure("a message of somebody new", first, bare, at_most=190),
        _figure("a message of somebody known", known, bare, at_most=150),
        _figure("a bare INSERT", bare, bare),
        _figure("a status", sum(moved) / len(moved), updated, at_most=50),
        _figure("a bare UPDATE", updated, updated, note=_hot_share("conversations_message")),
    ]


def _figure(name: str, seconds: float, base: float, *, at_most: float | None = None, note: str = "") -> Figure:
    return Figure(
        name=name,
        measured=seconds * 1e6,
        unit="µs",
        ratio=seconds / base,
        at_most=at_most,
        note=note or f"{1 / seconds:,.0f} a second and core",
    )


def _apply(service: Callable[..., Any], facts: Sequence[Any]) -> float:
    """Give the processor seconds for each fact."""
    gc.freeze()  # a reader never has so many facts at once
    began = processor_seconds()
    for batch in batches(facts, BATCH):
        with transaction.atomic():
            inbound.lock_channels({fact.channel.id for fact in batch})
            service(batch, now=timezone.now())
    return (processor_seconds() - began) / len(facts)


def _timed(statement: str, values: Sequence[Any] = ()) -> float:
    began = processor_seconds()
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
    return processor_seconds() - began


def processor_seconds() -> float:
    """Give the processor seconds of this process and of its PostgreSQL backend."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    fields = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _hot_share(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables WHERE relname = %s", [table])
        hot, updates = cursor.fetchone()
    return f"{hot / max(1, updates):.0%} of all updates left the indexes alone"
