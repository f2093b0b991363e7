"""Reads the provider's JSON defensively: a value of the wrong type counts as absent."""

import re
from typing import Any, Final

Row = dict[str, Any]
ID: Final = re.compile(r"[0-9]{1,32}", re.ASCII)
LONGEST: Final = 200
SMALLEST_TIER: Final = 50
UNLIMITED: Final = "TIER_UNLIMITED"
TIERS: Final = {"TIER_250": 250, "TIER_1K": 1_000, "TIER_2K": 2_000, "TIER_10K": 10_000, "TIER_100K": 100_000}


def row(value: object) -> Row:
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[Row]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object, longest: int = LONGEST) -> str:
    """Return a string that a database column can hold, stripped and cut to `longest`."""
    return value.replace("\x00", "").strip()[:longest] if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def number(value: object) -> int | None:
    """Return an integer, also from a string of digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and ID.fullmatch(value):
        return int(value)
    return None


def ident(value: object) -> str:
    """Return an id, or an empty string. An id has digits only, because it becomes a part of addresses."""
    found = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return found if ID.fullmatch(found) else ""


def recipients_per_day(tier: object) -> int | None:
    """Parse a messaging limit. None means no limit; an unknown value counts as the smallest tier."""
    return None if tier == UNLIMITED else TIERS.get(str(tier), SMALLEST_TIER)
