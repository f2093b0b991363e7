"""Helpers for all tables: comparable names, the database's clock, names of violated constraints."""

import unicodedata
from datetime import datetime
from typing import Any, cast

import psycopg
from django.db import IntegrityError, connection, models
from django.db.backends.utils import CursorWrapper

# A name has at most 120 characters. Few ligatures make its key more than four times as long; the rest is not compared.
LONGEST_NAME_KEY = 480
# A time, or an expression that the database evaluates when it runs the statement.
TimeOrExpression = datetime | models.expressions.Combinable
# Invisible marks that isolate the direction of one part of a text.
ISOLATES = dict.fromkeys(range(0x2066, 0x206A))


def name_key(name: str) -> str:
    """Return the key by which two spellings of a name are the same: trimmed, composed (NFKC), without case."""
    if name.isascii():
        return name.strip().lower()[:LONGEST_NAME_KEY]
    folded = unicodedata.normalize("NFKC", name.translate(ISOLATES).strip()).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST_NAME_KEY]


def violated_constraint(error: IntegrityError) -> str:
    """Return the name of the constraint that refused a statement, or an empty string."""
    cause = error.__cause__
    return (cause.diag.constraint_name or "") if isinstance(cause, psycopg.Error) else ""


def like_pattern(fragment: str) -> str:
    """Return the LIKE pattern for a substring; `%`, `_` and the backslash stay plain characters."""
    escaped = fragment.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def prefix_pattern(fragment: str) -> str:
    """Return the LIKE pattern for a prefix."""
    return like_pattern(fragment)[1:]


def database_now() -> datetime:
    """Return the time by the database's clock.

    All hosts share this clock. It alone decides what is due.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
    return cast("datetime", now)


def dictfetchall(cursor: CursorWrapper) -> list[dict[str, Any]]:
    """Return all rows of a statement as dicts by column name."""
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class CountOfRows(models.Subquery):
    """The number of a query's rows, within another statement. A sliced query bounds the work."""

    template = "(SELECT count(*) FROM (%(subquery)s) counted)"

    def __init__(self, rows: "models.QuerySet[models.Model, object]") -> None:
        super().__init__(rows, output_field=models.IntegerField())


class CurrentTransaction(models.Func):
    """The number of the transaction that writes a row. It has 64 bits and only grows."""

    template = "pg_current_xact_id()::text::bigint"
    output_field = models.BigIntegerField()
