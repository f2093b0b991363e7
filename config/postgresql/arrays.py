"""Writes columns of values as PostgreSQL array literals, which PostgreSQL reads fastest, without looking at types."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from uuid import UUID


def integers(values: Iterable[int | None]) -> str:
    """Write integers."""
    return f"{{{','.join(['NULL' if value is None else str(value) for value in values])}}}"


def booleans(values: Iterable[bool | None]) -> str:
    """Write booleans."""
    return f"{{{','.join(['NULL' if value is None else 't' if value else 'f' for value in values])}}}"


def timestamps(values: Iterable[datetime | None]) -> str:
    """Write aware times."""
    return f"{{{','.join(['NULL' if value is None else value.isoformat() for value in values])}}}"


def uuids(values: Iterable[UUID | None]) -> str:
    """Write uuids."""
    return f"{{{','.join(['NULL' if value is None else str(value) for value in values])}}}"


def decimals(values: Iterable[float | None]) -> str:
    """Write numbers with three decimals."""
    return f"{{{','.join(['NULL' if value is None else f'{value:.3f}' for value in values])}}}"


def texts(values: Iterable[str | None]) -> str:
    """Write texts. PostgreSQL cannot store NUL, so it becomes a replacement character."""
    return f"{{{','.join(['NULL' if value is None else _quoted(value) for value in values])}}}"


def binaries(values: Iterable[bytes | None]) -> str:
    """Write bytes."""
    return "{" + ",".join(["NULL" if value is None else f'"\\\\x{value.hex()}"' for value in values]) + "}"


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    # An array literal escapes with backslashes. The cache helps, because receivers' heads and endpoints' URLs recur.
    plain = text.replace("\0", "\ufffd").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
