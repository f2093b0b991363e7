"""Retention rules: each table that grows has one, declared by the app that writes the table.

Rows are deleted in batches, each in a short transaction that waits for no lock. The database's clock decides how old
they are.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, connection

from config.hooks import Registry
from config.metrics import METRICS, Gauge

logger = logging.getLogger(__name__)

# `first` and `end` are in both conditions of the probe, so that the planner considers one partition of a partitioned
# table.
HALVE = """
WITH RECURSIVE halved (low, high) AS (
    SELECT coalesce(min(id), %(end)s), coalesce(max(id) + 1, %(end)s)
    FROM {table} WHERE id >= %(first)s AND id < %(end)s
    UNION ALL
    SELECT CASE WHEN probe.made_at < %(moment)s THEN probe.id + 1 ELSE low END,
        CASE WHEN probe.made_at < %(moment)s THEN high ELSE (low + high) / 2 END
    FROM halved LEFT JOIN LATERAL (
        SELECT id, {column} AS made_at FROM {table}
        WHERE id >= (halved.low + halved.high) / 2 AND id < halved.high AND id >= %(first)s AND id < %(end)s
        ORDER BY id LIMIT 1
    ) AS probe ON true
    WHERE low < high
)
SELECT min(low) FROM halved WHERE low >= high
"""


def first_id_since(moment: datetime, *, table: str, column: str, first: int, end: int) -> int:
    """Return an id from `first` to `end`: rows made since `moment` have at least this id, earlier rows have less.

    It reads some twenty rows, however many there are.
    """
    with connection.cursor() as cursor:
        cursor.execute(HALVE.format(table=table, column=column), {"moment": moment, "first": first, "end": end})
        found: int = cursor.fetchone()[0]
    return found


BATCH = 5_000
SECONDS = 5.0

# The statement takes the oldest rows by their order, and deletes those whose time is over. So no run reads a whole
# table to find that nothing is old enough. Locked rows stay for the next run.
DELETE_EXPIRED = """
DELETE FROM {table} WHERE {key} = ANY (ARRAY (
    SELECT {key} FROM {table} WHERE {key} = ANY (ARRAY (
        SELECT {key} FROM (SELECT * FROM {table} WHERE {of} ORDER BY {order} LIMIT %(batch)s) AS oldest
        WHERE {is_old}))
    FOR UPDATE SKIP LOCKED))
"""
# Rows of other tables that belong to them are deleted in the same statement. Keys are checked when it has ended.
DELETE_EXPIRED_WITH_OTHERS = "WITH gone AS ({forget} RETURNING {key}), {belonging} SELECT {key} FROM gone"
DELETE_BELONGING = "of_{table} AS (DELETE FROM {table} WHERE {column} IN (SELECT {key} FROM gone))"
LAG = """
SELECT coalesce(max(statement_timestamp() - make_interval(secs => %(kept)s) - {since}), interval '0')
FROM (SELECT * FROM {table} WHERE {of} ORDER BY {order} LIMIT 100) AS oldest WHERE {is_old}
"""


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """`forget` deletes one batch and returns how many rows; `lag` returns how long the oldest row is overdue."""

    name: str
    kept: timedelta
    forget: Callable[[], int]
    lag: Callable[[], timedelta]


retention_rules = Registry[RetentionRule](
    "retention rules",
    called="the gauge `retention_lag_seconds` calls `lag` of each; tasks call `forget` of their app's rules without it",
    transaction="none",
    failure="of the database: the gauge has no value; another fails the scrape",
)
METRICS.add(
    Gauge(
        "retention_lag_seconds",
        "For how long the oldest row that should be gone has been overdue.",
        read=lambda: {rule.name: rule.lag().total_seconds() for rule in retention_rules},
        label="table",
    )
)


@dataclass(frozen=True, slots=True)
class ExpiredRows:
    """Rows of a table whose time `since` is longer ago than `kept`. Rows in which `since` is empty stay.

    `order` is an index, of the rows that `of` selects, with the oldest rows first. `only` is a further condition.
    `belonging` are tables whose rows are deleted with them, each with the column that holds the key.
    """

    table: str
    since: str
    kept: timedelta
    key: str = "id"
    order: str = "id"
    of: str = "true"
    only: str = "true"
    belonging: tuple[tuple[str, str], ...] = ()

    def forget(self, batch: int = BATCH) -> int:
        """Delete the rows that are old enough among the `batch` oldest; return how many."""
        with connection.cursor() as cursor:
            cursor.execute(self._write(self._forget), {"kept": self._seconds, "batch": batch})
            deleted: int = cursor.rowcount
        return deleted

    def lag(self) -> timedelta:
        with connection.cursor() as cursor:
            cursor.execute(self._write(LAG), {"kept": self._seconds})
            found: timedelta = cursor.fetchone()[0]
        return found

    @property
    def _seconds(self) -> float:
        return self.kept.total_seconds()

    @property
    def _forget(self) -> str:
        if not self.belonging:
            return DELETE_EXPIRED
        also = [
            DELETE_BELONGING.replace("{table}", table).replace("{column}", column) for table, column in self.belonging
        ]
        return DELETE_EXPIRED_WITH_OTHERS.replace("{forget}", DELETE_EXPIRED).replace("{belonging}", ", ".join(also))

    def rule(self, name: str) -> RetentionRule:
        return RetentionRule(name, self.kept, self.forget, self.lag)

    def _write(self, statement: str) -> str:
        is_old = f"{self.since} < statement_timestamp() - make_interval(secs => %(kept)s) AND {self.only}"
        names = {"table": self.table, "key": self.key, "order": self.order, "of": self.of, "since": self.since}
        return statement.format(**names, is_old=is_old)


def forget(rules: Iterable[RetentionRule], *, seconds: float = SECONDS) -> bool:
    """Delete batch by batch, for `seconds` for each rule; return whether something is left for another run.

    A rule that fails stops no other rule. Raises the first `DatabaseError` at the end.
    """
    is_left, failures = False, []
    for rule in rules:
        try:
            is_left |= _forget_one(rule, seconds)
        except DatabaseError as error:
            logger.error("Retention rule failed.", extra={"table": rule.name}, exc_info=error)
            failures.append(error)
    if failures:
        raise failures[0]
    return is_left


def _forget_one(rule: RetentionRule, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while rule.forget():
        if time.monotonic() > until:
            return True
    return False
