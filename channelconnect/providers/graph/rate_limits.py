"""Reads the provider's usage headers: how much of a limit is used, and how long to wait."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

from channelconnect.providers.graph.parsing import Row, number, row, rows

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
