"""Facts of networks, applied and committed by one process: messages that come in, and statuses."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.conversations.facts import batches, channels, messages, sent_messages, statuses
from benchmarks.figures import Figure
from benchmarks.servers import Bench
from workspaces.conversations.services import inbound

TITLE = (
    "Conversations: facts in, committed, by one process. Ratios are to bare statements over the same rows.\n"
    "Wanted of the whole way, on two cores: 10,000 messages and 30,000 statuses a second."
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
    moved = [_apply(inbound.advance_statuses, statuses(of, sent, status)) for status in ("delivered", "read")]
    updated = _timed(BARE_UPDATE) / len(sent)
    return [
        _figure("a message of somebody new", first, bare),
        _figure("a message of somebody known", known, bare, at_most=100),
        _figure("a bare INSERT", bare, bare),
        _figure("a status", sum(moved) / len(moved), updated, at_most=33),
        _figure("a bare UPDATE", updated, updated, note=_hot_share()),
    ]


def _figure(name: str, seconds: float, base: float, *, at_most: float | None = None, note: str = "") -> Figure:
    return Figure(
        name=name,
        measured=seconds * 1e6,
        unit="µs",
        ratio=seconds / base,
        at_most=at_most,
        note=note or f"{1 / seconds:,.0f} a second",
    )


def _apply(service: Callable[..., Any], facts: Sequence[Any]) -> float:
    """Give the seconds for each fact."""
    began = time.perf_counter()
    for batch in batches(facts, BATCH):
        with transaction.atomic():
            inbound.lock_channels({fact.channel.id for fact in batch})
            service(batch, now=timezone.now())
    return (time.perf_counter() - began) / len(facts)


def _timed(statement: str, values: Sequence[Any] = ()) -> float:
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
    return time.perf_counter() - began


def _hot_share() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables WHERE relname = 'conversations_message'"
        )
        hot, updates = cursor.fetchone()
    return f"{hot / max(1, updates):.0%} of all updates left the indexes alone"
