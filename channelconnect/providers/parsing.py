"""Reads the provider's JSON and usage headers defensively: a value of the wrong type counts as absent."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

Row = dict[str, object]
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


PER_BUSINESS: Final = "X-Business-Use-Case-Usage"
PER_APP: Final = "X-App-Usage"
HEADERS: Final = (PER_BUSINESS.lower().encode(), PER_APP.lower().encode())
MEASURES: Final = ("call_count", "total_cputime", "total_time")


class Used(NamedTuple):
    """The largest usage in percent, and the minutes for which the provider accepts no more calls."""

    percent: int = 0
    minutes: int = 0


def used_of(headers: Mapping[str, str]) -> tuple[Used, Used]:
    """Return the usage of the app, and that of the account that was called."""
    of_business = [entry for entries in _read(headers, PER_BUSINESS).values() for entry in rows(entries)]
    return _most([_read(headers, PER_APP)]), _most(of_business)


def _most(entries: list[Row]) -> Used:
    percents = [number(entry.get(measure)) or 0 for entry in entries for measure in MEASURES]
    return Used(max(percents, default=0), _minutes(entries))


def minutes_to_wait(headers: Mapping[str, str]) -> int:
    """Return the longest wait in the headers; 0 if they name none."""
    of_business = [entry for entries in _read(headers, PER_BUSINESS).values() for entry in rows(entries)]
    entries = [*of_business, _read(headers, PER_APP)]
    return _minutes(entries)


def _minutes(entries: list[Row]) -> int:
    return max((number(entry.get("estimated_time_to_regain_access")) or 0 for entry in entries), default=0)


def _read(headers: Mapping[str, str], name: str) -> dict[str, object]:
    try:
        return row(orjson.loads(headers.get(name, "")))
    except orjson.JSONDecodeError:
        return {}
