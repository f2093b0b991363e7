"""What every table shares: comparable names, the database's clock, constraints by name."""

import unicodedata
from datetime import datetime
from typing import Any, cast

import psycopg
from django.db import IntegrityError, connection, models

# A name has at most 120 characters, which few ligatures make more than four times as long; their rest is not compared.
LONGEST_NAME_KEY = 480
# A time, or that at which the statement which names it is executed.
Moment = datetime | models.expressions.Combinable
# Marks that keep the direction of a part of a text to itself and show nothing.
ISOLATES = dict.fromkeys(range(0x2066, 0x206A))


def name_key(name: str) -> str:
    """Give the form in which two spellings of a name are the same: trimmed, composed, without case."""
    if name.isascii():
        return name.strip().lower()[:LONGEST_NAME_KEY]
    folded = unicodedata.normalize("NFKC", name.translate(ISOLATES).strip()).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST_NAME_KEY]


def violated_constraint(error: IntegrityError) -> str:
    """Give the name of the constraint that refused a statement, or nothing."""
    cause = error.__cause__
    return (cause.diag.constraint_name or "") if isinstance(cause, psycopg.Error) else ""


def like_pattern(fragment: str) -> str:
    """Give the LIKE pattern for a substring; `%`, `_` and the backslash stay plain characters."""
    escaped = fragment.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def beginning_pattern(fragment: str) -> str:
    """Give the LIKE pattern for what begins with a fragment."""
    return like_pattern(fragment)[1:]


def database_now() -> datetime:
    """Give the time by the database's clock, which all hosts share; what is due is judged by it alone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
    return cast("datetime", now)


def fetch_rows(cursor: Any) -> list[dict[str, Any]]:
    """Give all rows of a statement by the names of their columns."""
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class CurrentTransaction(models.Func):
    """The number of the transaction that writes a row: 64 bits that only grow."""

    template = "pg_current_xact_id()::text::bigint"
    output_field = models.BigIntegerField()
