"""Reads the number of an answer. An answer with two different numbers, or a vague one, has none."""

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Final

from workspaces.automations.execution.languages.normalization import normalized
from workspaces.automations.execution.languages.numbers import (
    ARTICLES,
    CHOOSING,
    JOINING,
    MULTIPLIERS,
    NUMBER_WORDS,
    VAGUE,
    decimal_sign,
    known_languages,
)

# A longer text is no answer to a question for a number.
MOST_TEXT: Final = 120
MOST_DIGITS: Final = 15
# No spoken number has more hyphens.
MOST_PARTS: Final = 6
MOST_DECIMALS: Final = 6
# Digits with signs between them, and what is written close to them.
WRITTEN: Final = re.compile(r"(?<![^\W_])([-\u2212]?)(\d+(?:[.,'\u2019 ]\d+)*)([^\W\d_]*)(\d?)")
# "50,-" is an amount without cents.
WITHOUT_CENTS: Final = re.compile(r"(?<=\d)[.,][-\u2013\u2014]{1,2}(?!\d)")
MINUS_BEFORE: Final = re.compile(r"(?:^|[\s(:=])$")
# Numbers with these signs between them are times, dates, fractions or ranges.
JOINED: Final = re.compile(r"\d\s*[:/\u2044\u2013\u2014-]\s*\d|\d\s*%?\s*[x*\u00d7]\s*\d")
GROUPED: Final = re.compile(r"\d{1,3}([.,'\u2019 ])\d{3}(?:\1\d{3})*|\d{1,2}(?:,\d\d)+,\d{3}")
NO_DIGIT: Final = re.compile(r"\D")
SPOKEN: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
TIME_UNITS: Final = frozenset(("am", "pm", "uhr"))


def parse_number(text: str, *, languages: Sequence[str], country: str) -> str | None:
    """Return the only number of a text as a plain decimal such as `20000` or `12.5`, None if there is not just one."""
    if len(text) > MOST_TEXT:
        return None
    plain = WITHOUT_CENTS.sub("", normalized(text.strip()))
    if JOINED.search(plain):
        return None
    words = SPOKEN.findall(plain)
    if VAGUE.intersection(words):
        return None
    spoken = known_languages(languages)
    written = _written_numbers(plain, decimal_sign(country, languages))
    if written is None:
        return None
    if written:
        words = [word for word in words if word not in MULTIPLIERS]
    found = {*written, *map(Decimal, _spoken_numbers(words, spoken))}
    if _articles(spoken).intersection(words) and (not found or CHOOSING.intersection(words)):
        # "A table for four" has one number, "one or two" has two.
        found.add(Decimal(1))
    return _plain(found.pop()) if len(found) == 1 else None


def _plain(number: Decimal) -> str | None:
    text = format(number.normalize() + 0, "f")
    whole, _, decimals = text.lstrip("-").partition(".")
    return text if len(whole) <= MOST_DIGITS and len(decimals) <= MOST_DECIMALS else None


def _written_numbers(text: str, sign: str) -> list[Decimal] | None:
    """Give the numbers that are written with digits. None if one of them is part of something else, such as a code."""
    numbers = []
    for found in WRITTEN.finditer(text):
        minus, digits, unit, more = found.groups()
        number = _value(digits, sign)
        if more or unit in TIME_UNITS or len(digits) > 2 * MOST_DIGITS or number is None:
            return None
        following = unit or next(iter(SPOKEN.findall(text[found.end() : found.end() + 12])), "")
        number *= MULTIPLIERS.get(following, 1)
        is_negative = minus and MINUS_BEFORE.search(text[: found.start()])
        numbers.append(-number if is_negative else number)
    return numbers


def _value(digits: str, sign: str) -> Decimal | None:
    """Read digits with points, commas, spaces or apostrophes between them. `sign` is usual before decimals."""
    signs = re.sub(r"\d", "", digits)
    if not signs:
        return Decimal(digits)
    last = signs[-1]
    whole, _, decimals = digits.rpartition(last)
    if len(set(signs)) == 2:
        is_decimal = last in ".," and signs.count(last) == 1 and GROUPED.fullmatch(whole) is not None
    else:
        is_grouped = GROUPED.fullmatch(digits) is not None and digits[0] != "0"
        if is_grouped and len(signs) == 1 and last == sign:
            # "1.500" in a country of decimal points may be either.
            return None
        is_decimal = not is_grouped and len(signs) == 1 and last in ".,"
    if is_decimal:
        return Decimal(f"{NO_DIGIT.sub('', whole)}.{decimals}")
    return Decimal(NO_DIGIT.sub("", digits)) if GROUPED.fullmatch(digits) else None


def _spoken_numbers(words: Sequence[str], languages: Sequence[str]) -> list[int]:
    """Give the numbers that are written as words, such as `twenty five`. Articles are left out."""
    known = {word: value for code in languages for word, value in NUMBER_WORDS[code].items()}
    articles = _articles(languages)
    numbers: list[int] = []
    total = current = 0
    is_open = False
    for word in [part for one in words for part in _parts(one, known)]:
        value = None if word in articles else known.get(word)
        if value is None:
            # "Twenty and five" goes on; any other word ends the number.
            if is_open and word not in JOINING:
                numbers.append(total + current)
                total, current, is_open = 0, 0, False
            continue
        if is_open and not _continues(current, value):
            numbers.append(total + current)
            total = current = 0
        if value >= 1000:
            total, current = total + max(current, 1) * value, 0
        else:
            current = max(current, 1) * value if value == 100 else current + value
        is_open = True
    return [*numbers, total + current] if is_open else numbers


def _parts(word: str, known: Collection[str]) -> Iterator[str]:
    """Split a word at hyphens, each time after the longest number: `quatre-vingt-dix-sept` is 90 and 7."""
    parts = word.split("-")
    if len(parts) > MOST_PARTS:
        return
    while parts:
        length = next((count for count in range(len(parts), 1, -1) if "-".join(parts[:count]) in known), 1)
        yield "-".join(parts[:length])
        parts = parts[length:]


def _continues(current: int, value: int) -> bool:
    """Say whether a spoken number may go on with this word: tens after hundreds, units after tens."""
    if value >= 100:
        return current < value
    if value >= 10:
        return current % 100 == 0 or (value < 20 and current % 100 in (60, 80))
    return value > 0 and current % 10 == 0 and current % 100 != 10


def _articles(languages: Sequence[str]) -> frozenset[str]:
    return frozenset().union(*(ARTICLES[code] for code in languages))
