"""Reads dates and times from answers, in the words of the contact's and the workspace's languages.

An answer becomes a row of tokens, each with a kind of one letter (`languages.dates`). Regular expressions over these
letters are the grammar. Every word must be known: a word that is not could change the meaning (`not`, `after`, `last`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workspaces.automations.execution.answer_times import is_clear_time, next_day, time_of
from workspaces.automations.execution.languages.dates import (
    AGO,
    CLOCK,
    DAYS,
    FULL_DATE,
    IN,
    LONGEST_PHRASE,
    MONTH,
    MONTH_NAMES,
    MONTHS,
    NEXT,
    NEXT_WEEK,
    NUMBER,
    ORDINAL,
    PART,
    RELATIVE_DAY,
    SHORT_DATE,
    UNIT,
    WEEKDAY,
    WEEKDAY_NAMES,
    WEEKS,
    YEAR,
    Token,
    phrases_in,
)
from workspaces.automations.execution.languages.normalization import normalized
from workspaces.automations.execution.languages.numbers import known_languages

# A longer text is no answer to a question for a date.
MOST_TEXT: Final = 60
FIRST_YEAR: Final = 1900
MOST_YEARS_AHEAD: Final = 10
MOST_UNITS: Final = 400


@dataclass(frozen=True, slots=True)
class ReadDate:
    """A date with or without a time: `2026-12-01` or `2026-12-01T15:00`, and in words.

    `is_clear` is False if the answer could mean another one: a weekday, "tomorrow", `3/4`, or an hour without its half
    of the day. A missing year is clear.
    """

    value: str
    shown: str
    is_clear: bool = True


def parse_date(text: str, *, languages: Sequence[str], country: str, timezone: str, now: datetime) -> ReadDate | None:
    """Read the date of a text, None if it has none or is ambiguous. `now` is an aware time.

    A time without a date is the next such time. A date without a year is the next such date. An hour without more is
    one at which people are awake: "at 3" is 15:00.
    """
    if len(text) > MOST_TEXT:
        return None
    spoken = known_languages(languages)
    tokens = _tokens(normalized(text.strip()), phrases_in(spoken))
    if tokens is None:
        return None
    match = GRAMMAR.fullmatch("".join(token.kind for token in tokens))
    if match is None:
        return None
    local = now.astimezone(_zone(timezone)).replace(tzinfo=None)
    time_tokens = _part(match, tokens, "time_last", "time_first", "time_only")
    parts = {token.value for token in tokens if token.kind == PART}
    moment = time_of(time_tokens, parts) if time_tokens else None
    if time_tokens and moment is None:
        return None
    day_tokens = _part(match, tokens, "day_first", "day_last")
    is_day_first = _is_day_first(country, spoken)
    day = _day_of(day_tokens, local.date(), is_day_first) if day_tokens else next_day(moment, local)
    if day is None or not FIRST_YEAR <= day.year <= local.year + MOST_YEARS_AHEAD:
        return None
    is_clear = _is_clear_day(day_tokens, is_day_first) and (
        moment is None or is_clear_time(time_tokens, parts, spoken[0])
    )
    return replace(_written(day, moment, country, spoken[0]), is_clear=is_clear)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


# Tokens ----------------------------------------------------------------------------------------------


GERMAN_DAY: Final = (
    r"(?!\s+(?:\d|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonn|morgen|vormit|nachmit|abend))"
)
SUFFIX: Final = rf"a\.?\s?m\b\.?{GERMAN_DAY}|p\.?\s?m\b\.?|uhr\b|hs\b|hrs\b|heures?\b|horas?\b|h\b|h(?=[0-5]\d\b)"
PIECE: Final = re.compile(
    rf"""
    (?P<full>\d{{4}}([-/.])\d{{1,2}}\2\d{{1,2}}|\d{{1,2}}([-/.])\s?\d{{1,2}}\3\s?(?:\d{{4}}|\d\d))
        (?:t(?=\d)|(?![\d:/-]|\.\d))
    |(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<suffix>{SUFFIX})(?:\s?(?P<last>[0-5]\d)(?![\d.:/]))?
    |(?P<clock>\d{{1,2}}:[0-5]\d)(?::[0-5]\d)?(?![\d:])
    |(?P<short>\d{{1,2}}([/.])\s?\d{{1,2}})(?:\.(?!\d))?(?![\d:/-])
    |(?P<ordinal>\d{{1,2}})(?:(?:st|nd|rd|th|er|e|o|a)\b|\.(?=[\s,]|$))
    |(?P<year>(?:19|20)\d\d)(?![\d.:/-])
    |(?P<number>\d{{1,3}})(?![\d.:/]*\d|[^\W\d_])
    |(?P<word>[^\W\d_]+)
    |(?P<between>[\s,.;!?()'\u2019"@-]+)
    """,
    re.VERBOSE,
)


def _tokens(text: str, phrases: Mapping[str, tuple[Token, ...]]) -> list[Token] | None:
    """Read all tokens of a text, None if a word or a number is not known."""
    tokens: list[Token] = []
    words: list[str] = []
    at = 0
    while at < len(text):
        piece = PIECE.match(text, at)
        if piece is None or piece.end() == at:
            return None
        at = piece.end()
        if piece["word"]:
            words.append(piece["word"])
        elif not piece["between"]:
            spoken = _phrases(words, phrases)
            if spoken is None:
                return None
            tokens += [*spoken, _written_token(piece)]
            words = []
    spoken = _phrases(words, phrases)
    return None if spoken is None else tokens + spoken


def _phrases(words: Sequence[str], phrases: Mapping[str, tuple[Token, ...]]) -> list[Token] | None:
    """Give the tokens of words, each time for the longest known phrase."""
    tokens: list[Token] = []
    at = 0
    while at < len(words):
        for length in range(min(LONGEST_PHRASE, len(words) - at), 0, -1):
            found = phrases.get(" ".join(words[at : at + length]))
            if found is not None:
                tokens += found
                at += length
                break
        else:
            return None
    return tokens


def _written_token(piece: re.Match[str]) -> Token:
    """Give the token of a date, time or number that is written with digits."""
    if written := piece["full"] or piece["short"]:
        numbers = tuple(map(int, re.findall(r"\d+", written)))
        sign = next(sign for sign in written if not sign.isdigit())
        return Token(FULL_DATE if piece["full"] else SHORT_DATE, len(written.split(sign)[0]), numbers, sign)
    if piece["clock"]:
        hour, minute = map(int, piece["clock"].split(":"))
        return Token(CLOCK, 60 * hour + minute, sign="exact" if piece["clock"][0] == "0" else "hour")
    if piece["suffix"]:
        minute = int(piece["minute"] or piece["last"] or 0)
        half = {"a": "am", "p": "pm"}.get(piece["suffix"][0], "exact" if piece["hour"][0] == "0" else "hour")
        return Token(CLOCK, 60 * int(piece["hour"]) + minute, sign=half)
    kind = next(kind for kind in ("ordinal", "year", "number") if piece[kind])
    return Token({"ordinal": ORDINAL, "year": YEAR, "number": NUMBER}[kind], int(piece[kind]))


# The grammar -----------------------------------------------------------------------------------------

# With a day of a month only, a word such as "the" must say that it is one.
DAY_OF_MONTH: Final = r"D|S|[NO]MY?|M[NO]Y?|O|dV?[NO]|V[NO]"
DATE: Final = rf"d*(?:Wd*(?:{DAY_OF_MONTH}|N)|{DAY_OF_MONTH}|R|W|[XK]d*W|W[XK]|wd*W|Wd*w|IN[UV]|GN[UV]|N[UV]G)"
TIME: Final = r"A?(?:Tm?|h[NT]|Nu?m|Nu|Z|N(?=p))|A[NO]"
GRAMMAR: Final = re.compile(
    rf"(?P<day_first>{DATE})p?(?P<time_last>{TIME})?p?"
    rf"|(?P<time_first>{TIME})p?(?P<day_last>{DATE})p?"
    rf"|(?P<time_only>{TIME})p?"
)


def _part(match: re.Match[str], tokens: Sequence[Token], *names: str) -> Sequence[Token]:
    """Give the tokens of the first of these groups that took part."""
    return next((tokens[slice(*match.span(name))] for name in names if match[name]), ())


# Days ------------------------------------------------------------------------------------------------

# Countries that write the month before the day, and those that begin with the year. Canada writes both.
MONTH_FIRST: Final = frozenset(("US", "PH", "FM", "MH", "PW", "GU", "PR", "AS", "VI", "MP"))
YEAR_FIRST: Final = frozenset(("CN", "JP", "KR", "KP", "TW", "HU", "LT", "MN", "IR"))
UNCERTAIN: Final = frozenset(("CA",))


def _is_day_first(country: str, languages: Sequence[str]) -> bool | None:
    """Say whether the day stands before the month. None if nobody can know: in English without a country."""
    if country in MONTH_FIRST or country in YEAR_FIRST:
        return False
    return None if country in UNCERTAIN or (not country and tuple(languages) == ("en",)) else True


def _day_of(tokens: Sequence[Token], today: date, is_day_first: bool | None) -> date | None:
    """Give the day that the tokens name, None if there is none, or if a weekday beside it is not that day's."""
    by_kind = {token.kind: token for token in tokens}
    weekday = by_kind.get(WEEKDAY)
    try:
        found = _dated(by_kind, today, is_day_first)
    except (ValueError, OverflowError):
        return None
    if found is not None:
        return found if weekday is None or found.weekday() == weekday.value else None
    if weekday is None or _has_number(by_kind):
        return None
    if NEXT in by_kind or NEXT_WEEK in by_kind:
        return today + timedelta(days=7 - today.weekday() + weekday.value)
    return today + timedelta(days=(weekday.value - today.weekday() - 1) % 7 + 1)


def _is_clear_day(tokens: Sequence[Token], is_day_first: bool | None) -> bool:
    """Say whether tokens name a day that is the same whenever and wherever they are read, but for its year."""
    by_kind = {token.kind: token for token in tokens}
    written = by_kind.get(FULL_DATE) or by_kind.get(SHORT_DATE)
    if written is None:
        return MONTH in by_kind
    first, second, *_ = written.numbers
    has_one_order = max(first, second) > 12 or first == second or (written.sign == "." and is_day_first is True)
    return has_one_order or WEEKDAY in by_kind


def _has_number(by_kind: Mapping[str, Token]) -> bool:
    return not by_kind.keys().isdisjoint((FULL_DATE, SHORT_DATE, NUMBER, ORDINAL))


def _dated(by_kind: Mapping[str, Token], today: date, is_day_first: bool | None) -> date | None:
    """Give the day of a date that does not depend on a weekday. Raises `ValueError` for a date that does not exist."""
    if RELATIVE_DAY in by_kind:
        return today + timedelta(days=by_kind[RELATIVE_DAY].value)
    if not by_kind.keys().isdisjoint((IN, AGO)):
        return _after(by_kind, today)
    if FULL_DATE in by_kind or SHORT_DATE in by_kind:
        return _digits(by_kind.get(FULL_DATE) or by_kind[SHORT_DATE], today, is_day_first)
    number = by_kind.get(ORDINAL) or by_kind.get(NUMBER)
    if number is None:
        return None
    if MONTH not in by_kind:
        return _next_with_day(number.value, today)
    month = by_kind[MONTH].value
    if YEAR in by_kind:
        return date(by_kind[YEAR].value, month, number.value)
    return _next_date(month, number.value, today)


def _after(by_kind: Mapping[str, Token], today: date) -> date | None:
    """Give the day some days, weeks or months from today."""
    count = by_kind[NUMBER].value * (-1 if AGO in by_kind else 1)
    if abs(count) > MOST_UNITS:
        return None
    unit = by_kind[UNIT].value if UNIT in by_kind else DAYS
    if unit != MONTHS:
        return today + timedelta(days=count * (7 if unit == WEEKS else 1))
    years, month = divmod(today.year * 12 + today.month - 1 + count, 12)
    return min(date(years, month + 1, 1) + timedelta(days=today.day - 1), _last_day(years, month + 1))


def _last_day(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _digits(written: Token, today: date, is_day_first: bool | None) -> date | None:
    """Read a date in digits. Without a year it is the next such date."""
    first, second, *rest = written.numbers
    if written.kind == FULL_DATE and written.value == len("2026"):
        return date(first, second, rest[0])
    if max(first, second) > 12:
        is_day_first = first > 12
    elif written.sign == "." and is_day_first is not True:
        # Points are the sign of countries that begin with the day, but elsewhere people use them, too.
        is_day_first = True if is_day_first is None else None
    if is_day_first is None and first != second:
        return None
    day, month = (first, second) if is_day_first else (second, first)
    return date(_full_year(rest[0], today), month, day) if rest else _next_date(month, day, today)


def _full_year(year: int, today: date) -> int:
    if year >= 100:
        return year
    return 2000 + year if 2000 + year <= today.year + MOST_YEARS_AHEAD else 1900 + year


def _next_date(month: int, day: int, today: date) -> date | None:
    """Give the next such date from today. The 29th of February may be eight years away."""
    for year in range(today.year, today.year + 9):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found >= today:
            return found
    return None


def _next_with_day(day: int, today: date) -> date | None:
    """Give the next day from today with this number in its month."""
    for ahead in range(3):
        years, month = divmod(today.year * 12 + today.month - 1 + ahead, 12)
        if 1 <= day <= _last_day(years, month + 1).day and (found := date(years, month + 1, day)) >= today:
            return found
    return None


# In words --------------------------------------------------------------------------------------------

FORMS: Final[Mapping[str, str]] = {
    "en": "{weekday}, {day} {month} {year}",
    "de": "{weekday}, {day}. {month} {year}",
    "es": "{weekday}, {day} de {month} de {year}",
    "fr": "{weekday} {day} {month} {year}",
    "pt": "{weekday}, {day} de {month} de {year}",
}
MONTH_FIRST_FORM: Final = "{weekday}, {month} {day}, {year}"


# Short forms, for buttons of 20 characters.
SHORT_FORMS: Final[Mapping[str, str]] = {
    "en": "{weekday:.3} {day} {month:.3}",
    "de": "{weekday:.2} {day:02}.{number:02}.",
    "es": "{weekday:.3} {day:02}/{number:02}",
    "fr": "{weekday:.3} {day:02}/{number:02}",
    "pt": "{weekday:.3} {day:02}/{number:02}",
}
SHORT_MONTH_FIRST_FORM: Final = "{weekday:.3} {month:.3} {day}"


@dataclass(frozen=True, slots=True)
class WrittenMoment:
    """A moment in words: its date, its time, and both in a short form of at most 20 characters."""

    date: str
    time: str
    short: str


def moment_in_words(moment: datetime, *, languages: Sequence[str], country: str) -> WrittenMoment:
    """Write a moment by its own clock, in the first of the languages that is known."""
    language = known_languages(languages)[0]
    is_american = language == "en" and country in MONTH_FIRST
    clock = _clock(moment.time(), is_american=is_american)
    day = (SHORT_MONTH_FIRST_FORM if is_american else SHORT_FORMS[language]).format(
        weekday=WEEKDAY_NAMES[language][moment.weekday()],
        day=moment.day,
        month=MONTH_NAMES[language][moment.month - 1],
        number=moment.month,
    )
    return WrittenMoment(_written(moment.date(), None, country, language).shown, clock, f"{day}, {clock}")


def _clock(moment: time, *, is_american: bool) -> str:
    return f"{moment.hour % 12 or 12}:{moment:%M %p}" if is_american else f"{moment:%H:%M}"


def _written(day: date, moment: time | None, country: str, language: str) -> ReadDate:
    is_american = language == "en" and country in MONTH_FIRST
    shown = (MONTH_FIRST_FORM if is_american else FORMS[language]).format(
        weekday=WEEKDAY_NAMES[language][day.weekday()],
        day=day.day,
        month=MONTH_NAMES[language][day.month - 1],
        year=day.year,
    )
    if moment is None:
        return ReadDate(day.isoformat(), shown)
    clock = _clock(moment, is_american=is_american)
    return ReadDate(f"{day.isoformat()}T{moment:%H:%M}", f"{shown}, {clock}")
