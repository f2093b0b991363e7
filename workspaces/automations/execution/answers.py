"""Reads the answers of contacts: texts, numbers, addresses, dates, choices, yes and no.

Each function returns None for an answer that does not fit, so that the question can be asked again. A wrong reading is
worse than asking again: what is ambiguous does not fit.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_DOWN, Decimal
from typing import Final

import phonenumbers

from config.api.text_fields import is_valid_email
from workspaces.automations.execution.answer_dates import parse_date
from workspaces.automations.execution.answer_numbers import SPOKEN, parse_number
from workspaces.automations.execution.languages.normalization import normalized, word_set, words_of
from workspaces.automations.execution.languages.numbers import (
    KNOWN,
    NUMBER_WORDS,
    ORDINALS,
    decimal_sign,
    known_languages,
)
from workspaces.automations.execution.languages.phrases import LONGEST_PHRASE, replies_in

# An answer in words is kept up to so many characters.
MOST_KEPT: Final = 1_000
# So many characters are searched for an address, a number or a choice.
MOST_SEARCHED: Final = 300
MOST_CHOICE: Final = 80
MOST_CHOICE_WORDS: Final = 12


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it is stored, and as it is repeated to the contact. `is_clear` says that nothing was guessed."""

    value: str
    shown: str
    is_clear: bool = True


def parse_answer(
    kind: str, text: str, *, languages: Sequence[str], country: str, timezone: str, now: datetime
) -> Answer | None:
    """Read an answer of the kind text, number, email, phone or date. None if it does not fit, or the kind is another.

    Dates are `2026-12-01` or, with a time, `2026-12-01T15:00` in the time zone of the contact; phone numbers are
    E.164; numbers are plain decimals. `country` is the contact's (ISO 3166), else the workspace's, else "".
    """
    if kind == "date":
        date = parse_date(text, languages=languages, country=country, timezone=timezone, now=now)
        return None if date is None else Answer(date.value, date.shown, date.is_clear)
    if kind == "number":
        number = parse_number(text, languages=languages, country=country)
        return None if number is None else Answer(number, number.replace(".", decimal_sign(country, languages)))
    if kind == "phone":
        return _phone(text[:MOST_SEARCHED], country)
    reader = {"text": _text, "email": _email}.get(kind)
    return None if reader is None else reader(text)


CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _text(text: str) -> Answer | None:
    kept = CONTROLS.sub("", text[: 2 * MOST_KEPT]).strip()[:MOST_KEPT].strip()
    seen = any(unicodedata.category(character)[0] not in "CZ" for character in kept)
    return Answer(kept, kept) if seen else None


EMAIL: Final = re.compile(r"[^\s<>()\[\]\\,;:\"'@/]{1,64}\s?@\s?[^\s<>()\[\]\\,;:\"'@/?!]{3,255}")
AFTER_EMAIL: Final = "._-*~"


def _email(text: str) -> Answer | None:
    """Find the only e-mail address of a text."""
    found = set()
    for match in EMAIL.finditer(unicodedata.normalize("NFKC", text[:MOST_SEARCHED])):
        local, _, domain = match[0].replace(" ", "").rpartition("@")
        found.add(f"{local.lstrip(AFTER_EMAIL)}@{domain.rstrip(AFTER_EMAIL).lower()}")
    address = found.pop() if len(found) == 1 else ""
    return Answer(address, address) if address and is_valid_email(address) else None


MOST_PHONE: Final = 80
DATE_LIKE: Final = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\s*")


def _phone(text: str, country: str) -> Answer | None:
    """Find the only phone number of a text. One without a country code is read as one of the contact's country."""
    plain = FOREIGN_PLUS.sub("+", unicodedata.normalize("NFKC", text).strip())[:MOST_PHONE]
    if DATE_LIKE.fullmatch(plain):
        return None
    region = country.upper() if country.upper() in phonenumbers.SUPPORTED_REGIONS else None
    matcher = phonenumbers.PhoneNumberMatcher(plain, region, leniency=phonenumbers.Leniency.VALID, max_tries=5)
    found = {phonenumbers.format_number(match.number, E164): match.number for match in matcher}
    if not found and PLUS_NUMBER.fullmatch(plain):
        found = _new_number(plain)
    if len(found) != 1:
        return None
    number, parsed = found.popitem()
    if parsed.extension or len(number) > LONGEST_E164:
        return None
    return Answer(number, phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL))


E164: Final = phonenumbers.PhoneNumberFormat.E164
LONGEST_E164: Final = 16
FOREIGN_PLUS: Final = re.compile(r"\A(?:00(?=[1-9])|\uff0b)")
PLUS_NUMBER: Final = re.compile(r"\+[\d ().\-/]{6,40}")


def _new_number(text: str) -> dict[str, phonenumbers.PhoneNumber]:
    """Read a number with its country code that is possible, but of a range that the library does not know yet."""
    try:
        parsed = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return {}
    return {phonenumbers.format_number(parsed, E164): parsed} if phonenumbers.is_possible_number(parsed) else {}


# Ratings ---------------------------------------------------------------------------------------------


def parse_rating(text: str) -> int | None:
    """Return the stars of an answer, from 1 to 5: a number, stars, `4/5` or a word. None if there is no such rating."""
    if len(text) > MOST_RATING:
        return None
    plain, stars = STARS.subn(" ", normalized(text))
    plain = plain.strip()
    if stars > 1 or (stars and not plain):
        return stars if stars <= MOST_STARS and not re.search(r"\d", plain) else None
    found = OF_FIVE.search(plain) or STARS_IN_WORDS.search(plain) or LONE_NUMBER.fullmatch(plain)
    if found:
        return _stars(found[1])
    words = SPOKEN.findall(plain)
    if len(words) > MOST_RATING_WORDS or re.search(r"\d", plain):
        return None
    counted = {RATING_WORDS[word] for word in words if word in RATING_WORDS}
    others = [word for word in words if word not in RATING_WORDS and word not in STAR_WORDS]
    return counted.pop() if len(counted) == 1 and not others else None


def _stars(written: str) -> int | None:
    stars = int(Decimal(written.replace(",", ".")).quantize(Decimal(1), ROUND_HALF_DOWN))
    return stars if 1 <= stars <= MOST_STARS else None


MOST_STARS: Final = 5
MOST_RATING: Final = 120
MOST_RATING_WORDS: Final = 3
STARS: Final = re.compile("[\u2605\u2b50\U0001f31f]")
STAR_WORDS: Final = word_set(
    "star stars stern sterne sternen estrella estrellas etoile etoiles estrela estrelas point points punkte "
    "puntos pontos"
)
LONE_NUMBER: Final = re.compile(r"[^\w-]{0,3}([1-5](?:[.,]\d)?)\W{0,3}")
OF_FIVE: Final = re.compile(r"(?<![\d.,-])([0-5](?:[.,]\d)?)\s?(?:/|of|out of|von|de|sur|em)\s?5(?![\d.,]*\d)")
STARS_IN_WORDS: Final = re.compile(rf"(?<![\d.,-])([1-5](?:[.,]\d)?)[\s-]?(?:{'|'.join(sorted(STAR_WORDS))})\b")
RATING_WORDS: Final[Mapping[str, int]] = {
    **{word: value for code in KNOWN for word, value in NUMBER_WORDS[code].items() if 1 <= value <= MOST_STARS},
    **dict.fromkeys(("ein", "eine", "einen", "una", "uno", "un", "une", "um", "uma"), 1),
    **dict.fromkeys(("terrible", "awful", "horrible", "schrecklich", "furchtbar", "pesimo", "pessimo", "horrivel"), 1),
    **dict.fromkeys(("excellent", "perfect", "outstanding", "ausgezeichnet", "hervorragend", "perfekt"), MOST_STARS),
    **dict.fromkeys(("excelente", "perfecto", "perfecta", "perfeito", "perfeita", "parfait"), MOST_STARS),
}


# Yes and no ------------------------------------------------------------------------------------------


def parse_yes_no(text: str, languages: Sequence[str]) -> bool | None:
    """Say whether a whole message means yes or no. None if any of its words says something else."""
    words = words_of(normalized(text[:MOST_CHOICE])) if len(text) <= MOST_CHOICE else []
    if not words or len(words) > MOST_CHOICE_WORDS:
        return None
    replies = replies_in(known_languages((*languages, "en")))
    meanings: set[bool] = set()
    at = 0
    while at < len(words):
        length, meaning = _meaning_at(words, at, replies.yes, replies.no)
        if meaning is None and words[at] not in replies.fillers:
            return None
        if meaning is not None:
            meanings.add(meaning)
        at += length
    return meanings.pop() if len(meanings) == 1 else None


def _meaning_at(
    words: Sequence[str], at: int, yes: Collection[tuple[str, ...]], no: Collection[tuple[str, ...]]
) -> tuple[int, bool | None]:
    """Find the longest phrase that begins at a word. Gives its length and meaning."""
    for length in range(min(LONGEST_PHRASE, len(words) - at), 0, -1):
        phrase = tuple(words[at : at + length])
        if phrase in yes or phrase in no:
            return length, phrase in yes
    return 1, None


# Choices ---------------------------------------------------------------------------------------------


def match_choice(titles: Sequence[str], text: str, languages: Sequence[str]) -> int | None:
    """Find the option that a text names: its title, its beginning, its number, a word that only it has, or yes and no.

    The result is the option's position from 0, or None if none or several fit.
    """
    if len(text) > MOST_CHOICE:
        return None
    words = words_of(normalized(text))
    if not 0 < len(words) <= MOST_CHOICE_WORDS:
        return None
    options = [words_of(normalized(title)) for title in titles]
    spoken = known_languages((*languages, "en"))
    for find in (_by_title, _by_number, _by_beginning, _by_words, _by_meaning):
        found = find(options, words, spoken)
        if found:
            return found.pop() if len(found) == 1 else None
    return None


Options = Sequence[Sequence[str]]


def _by_title(options: Options, words: Sequence[str], languages: Sequence[str]) -> set[int]:
    """Find options with exactly these words. Spaces and signs do not count where letters are left."""
    wanted = (_letters(words), "".join(words))
    exact = {at for at, option in enumerate(options) if "".join(option) == wanted[1]}
    return exact or {at for at, option in enumerate(options) if wanted[0] and _letters(option) == wanted[0]}


def _letters(words: Sequence[str]) -> str:
    return "".join(word for word in words if word[0].isalnum())


ORDINAL_DIGITS: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|e|o|a)")


def _by_number(options: Options, words: Sequence[str], languages: Sequence[str]) -> set[int]:
    """Find the option by its number, unless a title has this number itself."""
    fillers = replies_in(tuple(languages)).fillers
    left = [word for word in words if word not in fillers] or list(words)
    if len(left) != 1 or any(left[0] in option for option in options):
        return set()
    if any(option and option[0].isdecimal() for option in options):
        # Titles such as "2 people" make it unclear what a number means.
        number = str(_spoken_position(left[0], languages))
        return {at for at, option in enumerate(options) if number in option}
    ordinal = ORDINAL_DIGITS.fullmatch(left[0])
    digits = ordinal[1] if ordinal else left[0]
    position = int(digits) if digits.isdecimal() and len(digits) <= 2 else _spoken_position(left[0], languages)
    return {position - 1} if 1 <= position <= len(options) else set()


def _spoken_position(word: str, languages: Sequence[str]) -> int:
    """Give the number that a word stands for, such as `two` or `segunda`, else 0."""
    for code in languages:
        for position, ordinal in enumerate(ORDINALS[code], 1):
            # Endings differ: `zweites`, `segunda`, `premiere`.
            if word == ordinal or word[:-1] in (ordinal, ordinal[:-1]):
                return position
        if word in NUMBER_WORDS[code]:
            return NUMBER_WORDS[code][word]
    return 0


LEAST_BEGINNING: Final = 3


def _by_beginning(options: Options, words: Sequence[str], languages: Sequence[str]) -> set[int]:
    """Find options that begin with the text: with whole words, or with at least three characters."""
    text = " ".join(words)
    joined = [" ".join(option) for option in options]
    begins = text if len(text) >= LEAST_BEGINNING else f"{text} "
    return {at for at, option in enumerate(joined) if option.startswith(begins)}


def _by_words(options: Options, words: Sequence[str], languages: Sequence[str]) -> set[int]:
    """Find options whose title stands in the text, else those with a word of the text that no other title has."""
    replies = replies_in(tuple(languages))
    if replies.negations.intersection(words):
        return set()
    spoken = f" {' '.join(words)} "
    joined = [" ".join(option) for option in options]
    inside = {at for at, title in enumerate(joined) if title and f" {title} " in spoken}
    # Of two titles of which one stands in the other, the longer one counts.
    inside = {at for at in inside if not any(joined[at] in joined[other] for other in inside - {at})}
    telling = {word for word in words if word not in replies.fillers and (len(word) > 2 or word.isdecimal())}
    having = [{at for at, option in enumerate(options) if word in option} for word in telling]
    return inside.union(*(found for found in having if len(found) == 1))


def _by_meaning(options: Options, words: Sequence[str], languages: Sequence[str]) -> set[int]:
    """Find the option that means yes or no by its first word, if the text does."""
    meaning = parse_yes_no(" ".join(words), languages)
    if meaning is None:
        return set()
    replies = replies_in(tuple(languages))
    return {at for at, option in enumerate(options) if _meaning_at(option, 0, replies.yes, replies.no)[1] is meaning}
