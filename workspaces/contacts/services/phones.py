"""Phone numbers: read in any unambiguous form, kept as E.164; and the country that one belongs to."""

import re
from dataclasses import dataclass

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from workspaces.contacts.services.zones import only_zone_of

# A plus, digits of any script, and what is written between them; letters for digits are not taken.
WRITTEN = re.compile(
    r"[+\uff0b][\d\s()\[\]./\u2010-\u2015\u2212\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069-]{4,60}"
)
MOST_DIGITS = 15
NO_COUNTRY = "001"


@dataclass(frozen=True, slots=True)
class Phone:
    """A number with the country it belongs to and that country's time zone, where each is certain."""

    number: str
    country: str | None
    timezone: str | None


def read_phone(text: str, *, within: str | None = None) -> Phone | None:
    """Read a number that begins with + and its country's code, or 00; None for what is no possible number.

    `within` is the country of numbers that do not say theirs.
    """
    text = text.strip()
    if text.startswith("00"):
        text = f"+{text[2:]}"
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
