"""How much of what the provider allows is used, and how long it asks to be left alone, from its usage headers."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

from channelconnect.providers.graph.parsing import Row, number, row, rows

PER_BUSINESS: Final = "X-Business-Use-Case-Usage"
PER_APP: Final = "X-App-Usage"
HEADERS: Final = (PER_BUSINESS.lower().encode(), PER_APP.lower().encode())
MEASURES: Final = ("call_count", "total_cputime", "total_time")


class Used(NamedTuple):
    """The largest share that is used, in percent, and for how many minutes nothing is taken any more."""

    percent: int = 0
    minutes: int = 0


def used_of(headers: Mapping[str, str]) -> tuple[Used, Used]:
    """Give what the app has used, and what the account has that was called."""
    of_business = [entry for entries in _read(headers, PER_BUSINESS).values() for entry in rows(entries)]
    return _most([_read(headers, PER_APP)]), _most(of_business)


def _most(entries: list[Row]) -> Used:
    percents = [number(entry.get(measure)) or 0 for entry in entries for measure in MEASURES]
    return Used(max(percents, default=0), _minutes(entries))


def minutes_to_wait(headers: Mapping[str, str]) -> int:
    """Give the longest wait that the headers name; 0 where they name none."""
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
