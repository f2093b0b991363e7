"""Dates, times, numbers, percentages and money as people of the active language write them: CLDR by Babel.

A skeleton of CLDR, such as `yMMMd`, says which parts of a day are written, and how wide; the language chooses their
order, case and signs. Babel is slow, so its texts are kept: the rows of a list are often of the same days.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from django.conf import settings
from django.utils.translation import get_language

# CLDR's "en" is American. Our English writes the day before the month.
REGIONS: Final = {"en": "en_GB"}
THOUSAND: Final = 1000
# The smallest number with separated thousands, where CLDR's minimumGroupingDigits is not one: Spanish writes 1234, but
# 12.345. Babel does not know it.
FEWEST_GROUPED: Final = {"es": 10 * THOUSAND}
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
UTC: Final = "UTC"
MOST_DECIMALS: Final = 6
LONGEST_NUMBER: Final = 40
# A number with at most one sign; which of the two it is does not say yet what it means.
PLAIN_NUMBER: Final = re.compile(r"([+-]?)([0-9]*)(?:([.,])([0-9]*))?")
# A number whose groups of three digits are separated by one sign, and its decimals by another.
GROUPED_NUMBER: Final = re.compile(
    r"([+-]?)([0-9]{1,3}([.,\u0020\u00a0\u2009\u202f])[0-9]{3}(?:\3[0-9]{3})*)(?:(?!\3)[.,]([0-9]*))?"
)
LENGTH_OF_GROUPS: Final = 3
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


def format_days(first: date, last: date, skeleton: str = "yMMMd") -> str:
    """Write the days from the first to the last, such as `23-29 Nov 2026`."""
    return _days(_language(), skeleton, first, last)


def format_times(begins: datetime | time, ends: datetime | time) -> str:
    """Write a part of a day, such as `09:05-10:00`."""
    before, between = _clock_interval(_language())
    return before(begins) + between(ends)


def format_period(begins: datetime, ends: datetime, skeleton: str = "yMMMd") -> str:
    """Write a period: a part of a day, such as `3 Nov 2026, 09:05-10:00`, or the day and time of both ends."""
    if begins.date() == ends.date():
        return _joined(_language())(format_times(begins, ends), format_day(begins, skeleton))
    between: str = _locale(_language()).interval_formats[None]
    return between.format(format_day_time(begins, skeleton), format_day_time(ends, skeleton))


def format_zone(moment: datetime) -> str:
    """Write the short name of a moment's time zone, such as `CET`, or its distance from UTC, such as `GMT-5`."""
    offset, summer = moment.utcoffset() or timedelta(), moment.dst() or timedelta()
    return _zone(_language(), str(moment.tzinfo), offset // timedelta(minutes=1), bool(summer))


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


def format_currency(amount: Decimal, currency: str, decimals: int, language: str = "") -> str:
    """Write an amount of money with this many decimals, such as `€1,234.50`."""
    language = language or _language()
    pattern = _currency_pattern(language, decimals)
    is_grouped = groups_thousands(language, amount)
    locale = _american(language)
    return str(pattern.apply(amount, locale, currency=currency, currency_digits=False, group_separator=is_grouped))


def writes_language(language: str) -> bool:
    """Whether numbers and money can be written in a language, which anybody may have named."""
    return language.isalpha() and bool(import_module("babel.localedata").exists(language))


def format_typed(value: Number, decimals: int | None = None) -> str:
    """Write a number as people type it into a field: without separated thousands, such as `1234.50`."""
    exact = Decimal(str(value))
    text = f"{exact:f}" if decimals is None else f"{exact:.{decimals}f}"
    return text.replace(".", _decimal_sign(_language()))


def read_typed(text: str) -> Decimal | None:
    """Read a number that was typed into a field; None if it is not a number, or could be two numbers.

    In every language both signs can be the decimal sign, but `1.234` is a thousand to people whose decimal sign is the
    comma. So one sign before three digits is read only if it is the decimal sign of the page's language.
    """
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if len(text) > LONGEST_NUMBER:
        return None
    if found := PLAIN_NUMBER.fullmatch(text):
        sign, whole, mark, part = found.groups(default="")
        may_be_group = len(part) == LENGTH_OF_GROUPS >= len(whole) and whole[:1] not in ("", "0")
        if not whole + part or (may_be_group and mark != _decimal_sign(_language())):
            return None
    elif found := GROUPED_NUMBER.fullmatch(text):
        sign, grouped, separator, part = found.groups(default="")
        whole = grouped.replace(separator, "")
    else:
        return None
    return Decimal(f"{sign}{whole}.{part}")


def _language() -> str:
    return get_language() or str(settings.LANGUAGE_CODE)


@cache
def _dates() -> ModuleType:
    """Import Babel's dates. Only processes that write some pay for its data."""
    return import_module("babel.dates")


@cache
def _numbers() -> ModuleType:
    return import_module("babel.numbers")


@cache
def _locale(language: str) -> Any:
    return _dates().Locale.parse(REGIONS.get(language, language).replace("-", "_"))


@cache
def _pattern(language: str, skeleton: str) -> Any:
    """Return the language's pattern of the nearest skeleton, with its letters made as wide as the skeleton asks for."""
    known = _locale(language).datetime_skeletons
    return _widened(known[_dates().match_skeleton(skeleton, known)].pattern, skeleton)


def _widened(pattern: str, skeleton: str) -> Any:
    dates, wanted = _dates(), {name: width for _, (name, width) in _fields(skeleton)}
    tokens = [
        (kind, (part[0], _width(part, wanted)) if kind == "field" else part)
        for kind, part in dates.tokenize_pattern(pattern)
    ]
    return dates.parse_pattern(dates.untokenize_pattern(tokens))


@cache
def _interval(language: str, skeleton: str, field: str) -> list[Any]:
    """Return both patterns of an interval whose largest differing field is this one."""
    known = _locale(language).interval_formats
    found = known[_dates().match_skeleton(skeleton, known)]
    return [_widened(pattern, skeleton) for pattern in found[field]]


def _fields(pattern: str) -> list[tuple[str, tuple[str, int]]]:
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
def _days(language: str, skeleton: str, first: date, last: date) -> str:
    if first == last:
        return _day(language, skeleton, first)
    field = "y" if first.year != last.year else "M" if first.month != last.month else "d"
    before, between = _interval(language, skeleton, field)
    locale = _locale(language)
    return str(before.apply(first, locale)) + str(between.apply(last, locale))


@lru_cache(maxsize=1024)
def _zone(language: str, zone: str, minutes: int, is_summer: bool) -> str:
    """Return CLDR's short name of a zone. American English knows zones that our English does not."""
    dates = _dates()
    if zone == UTC:
        return zone
    zone = dates.get_global("zone_aliases").get(zone, zone)
    metazone = dates.get_global("meta_zones").get(zone)
    for locale in (_locale(language), _american(language)):
        for names in (locale.time_zones.get(zone, {}), locale.meta_zones.get(metazone, {})):
            name = names.get("short", {}).get("daylight" if is_summer else "standard")
            if name and name != dates.NO_INHERITANCE_MARKER:
                return str(name)
    hours, rest = divmod(abs(minutes), 60)
    distance = f"{'-' if minutes < 0 else '+'}{hours}" + (f":{rest:02}" if rest else "") if minutes else ""
    return str(_locale(language).zone_formats["gmt"] % distance)


@lru_cache(maxsize=1024)
def _weekday_time(language: str, moment: datetime) -> str:
    return str(_pattern(language, "EHm").apply(moment, _locale(language)))


@cache
def _clock(language: str, skeleton: str) -> Callable[[datetime | time], str]:
    """Return what writes a time: hours, minutes and seconds are numbers in every language."""
    return _clock_text(_pattern(language, skeleton).pattern)


@cache
def _clock_interval(language: str) -> list[Callable[[datetime | time], str]]:
    return [_clock_text(pattern.pattern) for pattern in _interval(language, "Hm", "H")]


def _clock_text(pattern: str) -> Callable[[datetime | time], str]:
    tokens = _dates().tokenize_pattern(pattern)
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
def _american(language: str) -> Any:
    """Return a language as CLDR has it. Our English writes dollars as Americans do: `$38.00`, not `US$38.00`."""
    return _dates().Locale.parse(language.replace("-", "_"))


@cache
def _currency_pattern(language: str, decimals: int) -> Any:
    pattern = _numbers().parse_pattern(_american(language).currency_formats["standard"].pattern)
    pattern.frac_prec = (decimals, decimals)
    return pattern


@cache
def _decimal_sign(language: str) -> str:
    return str(_numbers().get_decimal_symbol(_locale(language)))


@cache
def _number_pattern(language: str, kind: str, decimals: int | None) -> Any:
    formats = getattr(_locale(language), f"{kind}_formats")
    pattern = _numbers().parse_pattern(formats[None].pattern)
    pattern.frac_prec = (0, MOST_DECIMALS) if decimals is None else (decimals, decimals)
    return pattern


def groups_thousands(language: str, shown: Decimal) -> bool:
    """Say whether a language separates the thousands of a number, which is rounded as it is shown."""
    return abs(shown) >= FEWEST_GROUPED.get(language, THOUSAND)


@lru_cache(maxsize=4096, typed=True)
def _number(language: str, kind: str, value: Number, decimals: int | None) -> str:
    exact = Decimal(str(value))
    shown = round(exact, MOST_DECIMALS if decimals is None else decimals)
    pattern = _number_pattern(language, kind, decimals)
    return str(
        pattern.apply(
            exact / HUNDRED if kind == "percent" else exact,
            _locale(language),
            group_separator=groups_thousands(language, shown),
        )
    )
