"""Dates, times, relative times, numbers and percentages as people of the active language write them: CLDR by Babel.

A skeleton of CLDR, such as `yMMMd`, says which parts of a day are written, and how wide; the language chooses their
order, case and signs. Babel is slow, so its texts are kept: the rows of a list are often of the same days.
"""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.utils.translation import get_language

# CLDR's "en" is American. Our English writes the day before the month.
REGIONS: Final = {"en": "en_GB"}
UNITS: Final = (
    ("year", timedelta(days=365)),
    ("month", timedelta(days=30)),
    ("week", timedelta(weeks=1)),
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)
# Twelve months of 30 days are not a year yet.
MONTHS: Final = 11
CLOCK_FIELDS: Final = {"H": "hour", "m": "minute", "s": "second"}
# A month of fewer letters in a pattern is a number.
SHORT_NAME: Final = 3
HUNDRED: Final = 100
MOST_DECIMALS: Final = 6
Number = int | float | Decimal


def format_day(day: date, skeleton: str = "yMMMd") -> str:
    """Write a day, such as `3 Nov 2026`."""
    return _day(_language(), skeleton, day.date() if isinstance(day, datetime) else day)


def format_time(moment: datetime | time, *, seconds: bool = False) -> str:
    """Write a time of day on the clock of 24 hours, such as `09:05`."""
    return _clock(_language(), "Hms" if seconds else "Hm")(moment)


def format_day_time(moment: datetime, skeleton: str = "yMMMd", *, seconds: bool = False) -> str:
    """Write a day and a time, such as `3 Nov 2026, 09:05`."""
    return _joined(_language())(format_time(moment, seconds=seconds), format_day(moment, skeleton))


def format_weekday_time(moment: datetime) -> str:
    """Write a moment of the coming week, such as `Tue 09:05`."""
    return _weekday_time(_language(), moment.replace(second=0, microsecond=0, tzinfo=None))


def format_relative(moment: datetime, now: datetime) -> str:
    """Write the time from now to a moment, or since it, in its largest unit: `7 minutes ago`, `in 3 hours`."""
    length = abs(moment - now)
    unit, size = next(((unit, size) for unit, size in UNITS if length >= size), UNITS[-1])
    number = max(length // size, 1)
    return _relative(_language(), unit, min(number, MONTHS) if unit == "month" else number, moment > now)


def format_number(value: Number, decimals: int | None = None) -> str:
    """Write a number with separated thousands; without `decimals`, with as many as it has.

    As in `floatformat`, a negative number of decimals leaves them out where there are none.
    """
    if decimals is not None and decimals < 0:
        decimals = 0 if value == int(value) else -decimals
    return _number(_language(), "decimal", value, decimals)


def format_percent(percent: Number, decimals: int | None = None) -> str:
    """Write a percentage, such as `17%` for 17; without `decimals`, with as many as it has."""
    return _number(_language(), "percent", percent, decimals)


def _language() -> str:
    return get_language() or str(settings.LANGUAGE_CODE)


@cache
def _dates() -> Any:
    """Import Babel's dates. Only processes that write some pay for its data."""
    return import_module("babel.dates")


@cache
def _numbers() -> Any:
    return import_module("babel.numbers")


@cache
def _locale(language: str) -> Any:
    return _dates().Locale.parse(REGIONS.get(language, language).replace("-", "_"))


@cache
def _pattern(language: str, skeleton: str) -> Any:
    """Return the language's pattern of the nearest skeleton, with its letters made as wide as the skeleton asks for."""
    dates, known = _dates(), _locale(language).datetime_skeletons
    found = known[dates.match_skeleton(skeleton, known)].pattern
    wanted = {name: width for _, (name, width) in _fields(skeleton)}
    tokens = [
        (kind, (part[0], _width(part, wanted)) if kind == "field" else part)
        for kind, part in dates.tokenize_pattern(found)
    ]
    return dates.parse_pattern(dates.untokenize_pattern(tokens))


def _fields(pattern: str) -> list[Any]:
    return [token for token in _dates().tokenize_pattern(pattern) if token[0] == "field"]


def _width(field: tuple[str, int], wanted: dict[str, int]) -> int:
    """Return a field's width: as wanted for the name of a month or a weekday, else as the language has it."""
    name, width = field
    is_name = name in "Ec" or (name in "ML" and width >= SHORT_NAME)
    return max(width, wanted.get({"L": "M", "c": "E"}.get(name, name), 0)) if is_name else width


@lru_cache(maxsize=4096)
def _day(language: str, skeleton: str, day: date) -> str:
    return str(_pattern(language, skeleton).apply(day, _locale(language)))


@lru_cache(maxsize=1024)
def _weekday_time(language: str, moment: datetime) -> str:
    return str(_pattern(language, "EHm").apply(moment, _locale(language)))


@cache
def _clock(language: str, skeleton: str) -> Callable[[datetime | time], str]:
    """Return what writes a time: hours, minutes and seconds are numbers in every language."""
    tokens = _dates().tokenize_pattern(_pattern(language, skeleton).pattern)
    written = (f"{{0.{CLOCK_FIELDS[part[0]]}:0{part[1]}}}" if kind == "field" else str(part) for kind, part in tokens)
    return "".join(written).format


@cache
def _joined(language: str) -> Callable[[str, str], str]:
    return str(_locale(language).datetime_formats["medium"]).format


@lru_cache(maxsize=4096)
def _relative(language: str, unit: str, number: int, is_future: bool) -> str:
    length = dict(UNITS)[unit] * number
    return str(
        _dates().format_timedelta(
            length if is_future else -length,
            granularity=unit,
            threshold=1,
            add_direction=True,
            locale=_locale(language),
        )
    )


@cache
def _number_pattern(language: str, kind: str, decimals: int | None) -> Any:
    formats = getattr(_locale(language), f"{kind}_formats")
    pattern = _numbers().parse_pattern(formats[None].pattern)
    pattern.frac_prec = (0, MOST_DECIMALS) if decimals is None else (decimals, decimals)
    return pattern


@lru_cache(maxsize=4096, typed=True)
def _number(language: str, kind: str, value: Number, decimals: int | None) -> str:
    exact = Decimal(str(value))
    pattern = _number_pattern(language, kind, decimals)
    return str(pattern.apply(exact / HUNDRED if kind == "percent" else exact, _locale(language)))
