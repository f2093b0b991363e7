"""Phone numbers: read in any unambiguous form, kept as E.164; and the country that one belongs to."""

import re
from functools import cache
from typing import Any, NamedTuple

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from workspaces.contacts.services.fields.zones import only_zone_of

# A plus, digits of any script, and what is written between them; letters for digits are not taken.
WRITTEN = re.compile(
    r"[+\uff0b][\d\s()\[\]./\u2010-\u2015\u2212\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069-]{4,60}"
)
MOST_DIGITS = 15
NO_COUNTRY = "001"
PLAIN = re.compile(r"\+[1-9][0-9 .-]{6,20}")
NO_DIGITS = str.maketrans("", "", "+ .-")


class Phone(NamedTuple):
    """A number with the country it belongs to and that country's time zone, where each is certain."""

    number: str
    country: str | None
    timezone: str | None


class _Country(NamedTuple):
    """What the library knows of a country whose calling code is its own."""

    id: str
    lengths: frozenset[int]
    prefix: re.Pattern[str] | None


@cache
def _country(region: str) -> _Country:
    """Read what the library knows of a country: a module each, for the first number only."""
    metadata: Any = phonenumbers.PhoneMetadata.metadata_for_region(region)
    lengths, prefix = metadata.general_desc.possible_length, metadata.national_prefix_for_parsing
    return _Country(metadata.id, frozenset(lengths), re.compile(prefix) if prefix else None)


# The countries whose calling code is their own, by its digits.
ONE_COUNTRY = {
    str(code): regions[0]
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()
    if len(regions) == 1 and regions[0] != NO_COUNTRY
}


def _plain_number(text: str) -> Phone | None:
    """Read a number whose digits need no rule but the country's lengths, which is most of them, much faster.

    None for any other: the library reads those.
    """
    if not PLAIN.fullmatch(text):
        return None
    digits = text.translate(NO_DIGITS)
    length = next((length for length in (1, 2, 3) if digits[:length] in ONE_COUNTRY), 0)
    if not length:
        return None
    national, country = digits[length:], _country(ONE_COUNTRY[digits[:length]])
    if national[:1] == "0" or len(national) not in country.lengths:
        return None
    if country.prefix and country.prefix.match(national):
        return None
    return Phone(f"+{digits}", country.id, only_zone_of(country.id))


def read_phone(text: str, *, within: str | None = None) -> Phone | None:
    """Read a number that begins with + and its country's code, or 00; None for what is no possible number.

    `within` is the country of numbers that do not say theirs.
    """
    text = text.strip()
    if text.startswith("00"):
        text = f"+{text[2:]}"
    plain = _plain_number(text)
    if plain:
        return plain
    is_local = within is not None and text[:1] not in ("+", "\uff0b")
    if not WRITTEN.fullmatch(f"+{text}" if is_local else text):
        return None
    try:
        parsed = phonenumbers.parse(text, within)
    except NumberParseException:
        return None
    if parsed.extension or not phonenumbers.is_possible_number(parsed):
        return None
    number = phonenumbers.format_number(parsed, PhoneNumberFormat.E164)
    if len(number) > MOST_DIGITS + 1:
        return None
    region = phonenumbers.region_code_for_number(parsed)
    country = None if region in (None, NO_COUNTRY) else str(region)
    return Phone(number, country, only_zone_of(country))
