"""Reads fields of a provider's answers. They come from outside, so nothing about them is taken for granted."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from workspaces.finance.providers.faults import ProviderFault

LONGEST_ID: Final = 255
LARGEST_AMOUNT: Final = 10**15
# The year 2100.
LATEST_TIME: Final = 4_102_444_800


def read_text(found: Mapping[str, object], name: str, *, needed: bool = False) -> str:
    """Read a text. Raises `ProviderFault` if a needed one is missing or longer than any id."""
    value = found.get(name)
    if isinstance(value, str) and value and len(value) <= LONGEST_ID and "\0" not in value:
        return value
    if needed:
        raise ProviderFault("unavailable", f"odd {name}")
    return ""


def read_truncated(found: Mapping[str, object], name: str, longest: int) -> str:
    """Read a text for people, cut off at a length. A database cannot store a NUL."""
    value = found.get(name)
    return value.replace("\0", "")[:longest] if isinstance(value, str) else ""


def read_amount(found: Mapping[str, object], name: str, *, least: int = 0) -> int:
    """Read an amount in the provider's smallest unit. Raises `ProviderFault`."""
    value = found.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < LARGEST_AMOUNT:
        raise ProviderFault("unavailable", f"odd {name}")
    return value


def read_time(found: Mapping[str, object], name: str) -> datetime:
    """Read a time in seconds since 1970. Raises `ProviderFault`."""
    value = found.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LATEST_TIME:
        raise ProviderFault("unavailable", f"odd {name}")
    return datetime.fromtimestamp(value, UTC)


def read_mapping(found: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def read_rows(found: Mapping[str, object], most: int) -> list[Mapping[str, object]]:
    """Read the objects of a list."""
    rows = found.get("data")
    return [one for one in rows[:most] if isinstance(one, dict)] if isinstance(rows, list) else []


def read_id(found: Mapping[str, object], name: str) -> str:
    """Read the id of another object, which the provider may have put in whole."""
    value = found.get(name)
    return read_text(value, "id") if isinstance(value, dict) else read_text(found, name)
