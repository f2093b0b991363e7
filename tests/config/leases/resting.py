"""Claimers at rest: their rounds are driven one by one with statements counted, or they are waited for."""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest
from django.db import connection as project
from django.test.utils import CaptureQueriesContext

from config.leases import claimer as leased_claimer
from config.leases.claimer import REST_SECONDS, Claimer
from config.leases.connections import DatabaseThread
from tests.waiting import until

A_MOMENT = 0.001
LONG_SECONDS = 3_600.0


def statements_of(thread: DatabaseThread, rounds: int) -> list[str]:
    """Let a thread do so many rounds here; gives all statements that they made, each a transaction."""
    made: list[str] = []

    class CountingCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *arguments: Any, **named: Any) -> Any:
            made.append(" ".join(str(query).split()))
            return super().execute(query, *arguments, **named)

    thread.connection.cursor_factory = CountingCursor
    with CaptureQueriesContext(project) as captured:
        for _ in range(rounds):
            assert thread.work_once()
    return made + [query["sql"] for query in captured.captured_queries]


def rest_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have claimers rest from the first round on, and not wait long between rounds.

    What else they do after some seconds does not come, however long the rounds take.
    """
    monkeypatch.setattr(leased_claimer, "LOOP_PATIENCE_SECONDS", LONG_SECONDS)
    monkeypatch.setattr(leased_claimer, "DATABASE_SECONDS", LONG_SECONDS)
    monkeypatch.setattr(leased_claimer, "AWAKE_SECONDS", 0.0)
    monkeypatch.setattr(leased_claimer, "SWEEP_SECONDS", 0.0)
    monkeypatch.setattr(leased_claimer, "REST_SECONDS", A_MOMENT)


def rest_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have claimers rest as soon as they have done nothing for a moment."""
    monkeypatch.setattr(leased_claimer, "AWAKE_SECONDS", 0.5)


def rest_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have claimers rest soon and, as long as nobody wakes them, for longer than a test; their leases hold so long."""
    rest_soon(monkeypatch)
    monkeypatch.setattr(leased_claimer, "REST_SECONDS", LONG_SECONDS)
    monkeypatch.setattr(leased_claimer, "LEASE_SECONDS", 2 * LONG_SECONDS)


def wait_for_rest(claimers: Callable[[], Sequence[Claimer[Any]]], seconds: float = REST_SECONDS) -> None:
    """Wait until all of them rest for so long at a time."""
    until(lambda: (found := claimers()) and all(one.pace == seconds for one in found), what="the claimers to rest")
