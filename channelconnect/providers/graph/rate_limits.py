"""How long the provider asks to be left alone, from its usage headers."""

from collections.abc import Mapping
from typing import Final

import orjson

from channelconnect.providers.graph.parsing import number, row, rows

PER_BUSINESS: Final = "X-Business-Use-Case-Usage"
PER_APP: Final = "X-App-Usage"


def minutes_to_wait(headers: Mapping[str, str]) -> int:
    """Give the longest wait that the headers name; 0 where they name none."""
    of_business = [entry for entries in _read(headers, PER_BUSINESS).values() for entry in rows(entries)]
    entries = [*of_business, _read(headers, PER_APP)]
    return max((number(entry.get("estimated_time_to_regain_access")) or 0 for entry in entries), default=0)


def _read(headers: Mapping[str, str], name: str) -> dict[str, object]:
    try:
        return row(orjson.loads(headers.get(name, "")))
    except orjson.JSONDecodeError:
        return {}
