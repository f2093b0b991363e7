"""Reads phone numbers in any unambiguous form as E.164, and finds a number's country."""

import re
from functools import cache
from typing import Any, NamedTuple

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from workspaces.contacts.services.fields.zones import only_zone_of

# A plus sign, digits of any script and the usual separators. Letters in place of digits are refused.
WRITTEN = re.compile(
    r"[+\uff0b][\d\s()\[\]./\u2010-\u2015\u2212\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069-]{4,60}"
)
MOST_DIGITS = 15
NO_COUNTRY = "001"
PLAIN = re.compile(r"\+[1-9][0-9 .-]{6,20}")
NO_DIGITS = str.maketrans("", "", "+ .-")


class Phone(NamedTuple):
    """A number in E.164, its country and the country's time zone. Each of the two is None unless it is certain."""

    number: str
    country: str | None
    timezone: str | None


class _Country(NamedTuple):
    """The library's metadata of a country that shares its calling code with no other."""

    id: str
    lengths: frozenset[int]
    prefix: re.Pattern[str] | None


@cache
def _country(region: str) -> _Country:
    """Load the library's metadata of a country. It is a module for each country, so it is loaded once."""
    metadata: Any = phonenumbers.PhoneMetadata.metadata_for_region(region)
    lengths, prefix = metadata.general_desc.possible_length, metadata.national_prefix_for_parsing
    return _Country(metadata.id, frozenset(lengths), re.compile(prefix) if prefix else None)


# Calling codes that belong to one country only, with that country.
ONE_COUNTRY = {
    str(code): regions[0]
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()
    if len(regions) == 1 and regions[0] != NO_COUNTRY
}


def _plain_number(text: str) -> Phone | None:
    """Read a number fast if the lengths of the country's numbers suffice to check it, as for most numbers.

    Return None for any other number, which the library must read.
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
    """Read a number that begins with + or 00 and a country code. Return None if the number is not possible.

    `within` is the country of numbers without a country code.
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
