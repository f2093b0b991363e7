"""Each host computes local times by the time zones of the locked package, whatever its system has installed."""

from datetime import UTC, datetime, timedelta
from importlib.resources import files
from zoneinfo import ZoneInfo, available_timezones

# Two years and a half, in which every present rule about summer time begins and ends.
MOMENTS = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=5) * number for number in range(180)]


def offsets(zone: ZoneInfo) -> list[timedelta | None]:
    return [moment.astimezone(zone).utcoffset() for moment in MOMENTS]


def of_the_package(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", name).open("rb") as file:
        return ZoneInfo.from_file(file)


def test_every_time_zone_has_the_rules_of_the_locked_package() -> None:
    zones = available_timezones()
    assert "Europe/Berlin" in zones
    assert "localtime" not in zones
    different = {name for name in zones if offsets(ZoneInfo.no_cache(name)) != offsets(of_the_package(name))}
    assert different == set()
