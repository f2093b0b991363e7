"""Helpers that the readers of several kinds of notices share."""

import math
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from channelconnect.providers.graph.parsing import Row, number, row, rows, text

# Above this a time is in milliseconds, otherwise in seconds.
LAST_SECOND: Final = 100_000_000_000
LONGEST_MESSAGE: Final = 65_536
LONGEST_ID: Final = 512
LONGEST_ADDRESS: Final = 4_096
LONGEST_VALUE: Final = 1_000
MOST_ITEMS: Final = 30
DEEPEST: Final = 5


def moment(value: object) -> datetime | None:
    """Parse seconds or milliseconds since 1970, from an integer or from digits."""
    return _moment(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


@lru_cache(maxsize=10_000)
def _moment(value: str | int) -> datetime | None:
    """Cached, because facts that arrive together share few distinct seconds."""
    found = number(value)
    if found is None or not 0 < found < LAST_SECOND * 1000:
        return None
    return datetime.fromtimestamp(found / 1000 if found >= LAST_SECOND else found, UTC)


def address(value: object) -> str:
    """Return an http or https address; empty for any other or a too long value."""
    found = text(value, LONGEST_ADDRESS + 1)
    return found if found.startswith(("https://", "http://")) and len(found) <= LONGEST_ADDRESS else ""


def bounded(value: object, depth: int = DEEPEST) -> Any:
    """Copy any JSON so that a column can hold it: texts, lists and nesting are cut to limits."""
    if isinstance(value, str):
        return text(value, LONGEST_VALUE)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {text(key, 100): bounded(item, depth - 1) for key, item in list(value.items())[:MOST_ITEMS]}
    return [bounded(item, depth - 1) for item in value[:MOST_ITEMS]] if isinstance(value, list) else None


def present(**values: Any) -> dict[str, Any]:
    """Return only values with content: no empty text, list or object, and no None."""
    return {name: value for name, value in values.items() if value not in ("", None, [], {})}


def error_of(value: object) -> tuple[str, str]:
    """Return the code and the text of a list's first error: its details, or its title."""
    error: Row = next(iter(rows(value)), {})
    details = text(row(error.get("error_data")).get("details"), LONGEST_VALUE)
    code = number(error.get("code"))
    return "" if code is None else str(code), details or text(error.get("title")) or text(error.get("message"))
