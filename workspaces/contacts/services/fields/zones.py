"""Finds the time zone of a country that has only one."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo, available_timezones

# Zones are compared every two weeks over the coming year, often enough to catch summer time anywhere.
STEP, STEPS = timedelta(days=14), 27


def only_zone_of(country: str | None) -> str | None:
    """Return the time zone of a country (ISO 3166) if the whole country has the same time, else None."""
    return None if country is None else _only_zones().get(country)


@lru_cache(maxsize=1)
def _only_zones() -> dict[str, str]:
    """Read the time zone database's table. Of a country's zones that all show the same time, keep the first."""
    by_country: dict[str, list[str]] = {}
    for line in (files("tzdata") / "zoneinfo" / "zone.tab").read_text().splitlines():
        if not line.startswith("#"):
            country, _, zone = line.split("\t")[:3]
            by_country.setdefault(country, []).append(zone)
    known = available_timezones()
    return {country: zones[0] for country, zones in by_country.items() if known.issuperset(zones) and _agree(zones)}


def _agree(zones: Iterable[str]) -> bool:
    start = datetime.now(UTC)
    moments = [start + STEP * number for number in range(STEPS)]
    clocks = {tuple(moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in moments) for zone in zones}
    return len(clocks) == 1
