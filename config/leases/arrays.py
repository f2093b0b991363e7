"""Columns of values as PostgreSQL reads them fastest: one array literal each, built without a look at types."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from uuid import UUID


def integers(values: Iterable[int | None]) -> str:
    """Write whole numbers."""
    return f"{{{','.join(['NULL' if value is None else str(value) for value in values])}}}"


def booleans(values: Iterable[bool | None]) -> str:
    """Write yes and no."""
    return f"{{{','.join(['NULL' if value is None else 't' if value else 'f' for value in values])}}}"


def moments(values: Iterable[datetime | None]) -> str:
    """Write times that know their offset."""
    return f"{{{','.join(['NULL' if value is None else value.isoformat() for value in values])}}}"


def uuids(values: Iterable[UUID | None]) -> str:
    """Write uuids."""
    return f"{{{','.join(['NULL' if value is None else str(value) for value in values])}}}"


def decimals(values: Iterable[float | None]) -> str:
    """Write numbers to a thousandth."""
    return f"{{{','.join(['NULL' if value is None else f'{value:.3f}' for value in values])}}}"


def texts(values: Iterable[str | None]) -> str:
    """Write texts; a NUL, which no text of PostgreSQL can hold, becomes a replacement character."""
    return f"{{{','.join(['NULL' if value is None else _quoted(value) for value in values])}}}"


def binaries(values: Iterable[bytes | None]) -> str:
    """Write bytes."""
    return "{" + ",".join(["NULL" if value is None else f'"\\\\x{value.hex()}"' for value in values]) + "}"


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    # An array literal quotes with backslashes; receivers' heads and endpoints' URLs come again and again.
    plain = text.replace("\0", "\ufffd").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
