"""All that the database holds, to see whether a call left anything behind."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import psycopg
from django.apps import apps
from django.db import connection
from django.db.models.options import Options

from tests.sizes import PRODUCT

# Every known caller is stamped; that is no trace of what was asked for.
STAMP = "last_used_at"
# Rows are hashed by their values, in whatever order they come: a table is asked for thousands of times.
HASH = "SELECT '{table}', count(*), sum(hash_record_extended(ROW({columns}), 0))::text FROM {table}"


@cache
def _statement() -> str:
    models = [model for model in apps.get_models() if model.__module__.partition(".")[0] in PRODUCT]
    return " UNION ALL ".join(
        HASH.format(table=model._meta.db_table, columns=", ".join(_columns(model._meta))) for model in models
    )


def _columns(meta: "Options[Any]") -> Iterator[str]:
    for field in meta.local_concrete_fields:
        if field.column != STAMP:
            yield f'"{field.column}"'


def traces() -> dict[str, tuple[int, str | None]]:
    """How many rows each of our tables has, and a hash of them without the stamps of a key's use."""
    connection.ensure_connection()
    cursor = psycopg.Cursor(connection.connection)
    # PostgreSQL would start two processes to read so many tables. That costs more than reading these few rows.
    cursor.execute("SET max_parallel_workers_per_gather = 0")
    # Planning so many tables costs more than reading them.
    rows = cursor.execute(_statement(), prepare=True).fetchall()
    cursor.execute("RESET max_parallel_workers_per_gather")
    return {table: (count, hashed) for table, count, hashed in rows}
