"""Checks a contact's fields and returns them as stored, alike for request bodies, import rows and forms."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeGuard
from zoneinfo import ZoneInfo, available_timezones

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from config.api.text_fields import (
    CONTROLS,
    CONTROLS_BUT_LINES,
    LONGEST_VALUE,
    UNSTORABLE,
    has_unsafe_bidi,
    has_visible_text,
    is_name,
    is_valid_email,
    known_zones,
)
from config.db import name_key
from config.errors import InvalidInput
from workspaces.contacts.models.contacts import LONGEST_EMAIL, LONGEST_NAME, LONGEST_TAG, MOST_ATTRIBUTES, MOST_TAGS

# Cached, because a workspace's contacts share a few tags.
tag_key = lru_cache(maxsize=4_096)(name_key)


def distinct_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags in their order without duplicates. Of two spellings the first stays."""
    by_key: dict[str, str] = {}
    for tag in tags:
        by_key.setdefault(tag_key(tag), tag)
    return list(by_key.values())


def joined_tags(held: Iterable[str], more: Iterable[str]) -> list[str]:
    """Return the tags of `held`, then those of `more` that are not among them."""
    return distinct_tags([*held, *more])


def added_tags(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return the tags of `after` that `before` has in no spelling."""
    held = {tag_key(tag) for tag in before}
    return [tag for tag in after if tag_key(tag) not in held]


# Zones are compared every two weeks over the coming year, often enough to catch summer time anywhere.
STEP, STEPS = timedelta(days=14), 27


def only_zone_of(country: str | None) -> str | None:
    """Return the time zone of a country (ISO 3166) if the whole country has the same time, else None."""
    return None if country is None else _only_zones().get(country)


def country_of_zone(zone: str) -> str | None:
    """Return the country (ISO 3166) in which a time zone's city lies, or None for a zone without one, such as UTC."""
    return _countries_of_zones().get(zone)


@lru_cache(maxsize=1)
def _countries_of_zones() -> dict[str, str]:
    """Read the time zone database's table."""
    lines = (files("tzdata") / "zoneinfo" / "zone.tab").read_text().splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {row[2]: row[0] for row in rows}


@lru_cache(maxsize=1)
def _only_zones() -> dict[str, str]:
    """Of a country's zones that all show the same time, keep the first."""
    by_country: dict[str, list[str]] = {}
    for zone, country in _countries_of_zones().items():
        by_country.setdefault(country, []).append(zone)
    known = available_timezones()
    return {country: zones[0] for country, zones in by_country.items() if known.issuperset(zones) and _agree(zones)}


def _agree(zones: Iterable[str]) -> bool:
    start = datetime.now(UTC)
    moments = [start + STEP * number for number in range(STEPS)]
    clocks = {tuple(moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in moments) for zone in zones}
    return len(clocks) == 1


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


# Matches most addresses faster than the validator does, and none that the validator would refuse.
PLAIN_EMAIL = re.compile(
    r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,63}",
    re.ASCII | re.IGNORECASE,
)


class ValueRefused(InvalidInput):
    """A value is not valid for its field of a contact."""


def checked_text(name: str, value: object, *, longest: int, multiline: bool = False, subject: str = "") -> str:
    """Return a text trimmed, or "" if none of its characters is visible."""
    if _is_plain(value, longest):
        return str.strip(value)
    subject = subject or f"The {name.replace('_', ' ')} field"
    if not isinstance(value, str):
        raise ValueRefused(f"{subject} must be a string.", field=name)
    text = value.strip()
    if UNSTORABLE.search(text):
        raise ValueRefused(f"{subject} holds characters that cannot be stored.", field=name)
    if (CONTROLS_BUT_LINES if multiline else CONTROLS).search(text):
        raise ValueRefused(f"{subject} must not contain control characters.", field=name)
    if has_unsafe_bidi(text):
        raise ValueRefused(f"{subject} must not contain characters that override the direction of text.", field=name)
    return _short(name, text, longest, subject) if has_visible_text(text) else ""


def _is_plain(value: object, longest: int) -> TypeGuard[str]:
    """Return whether a text is short, printable ASCII, which needs no further checks. Most texts are."""
    return isinstance(value, str) and len(value) <= longest and value.isascii() and value.isprintable()


def _short(name: str, text: str, longest: int, subject: str) -> str:
    if len(text) > longest:
        raise ValueRefused(f"{subject} may have at most {longest} characters.", field=name)
    return text


def checked_phone(value: object) -> Phone | None:
    """Return a phone number with its country, or None for an empty value."""
    text = checked_text("phone", value, longest=60)
    if not text:
        return None
    found = read_phone(text)
    if found is None:
        message = "The phone field must be a phone number with its country code such as +49 30 1234567."
        raise ValueRefused(message, field="phone")
    return found


def checked_email(value: object) -> str | None:
    text = checked_text("email", value, longest=LONGEST_EMAIL)
    if not text:
        return None
    if PLAIN_EMAIL.fullmatch(text):
        return text
    if not is_valid_email(text):
        raise ValueRefused("The email field must be a valid e-mail address.", field="email")
    return text


def checked_name(value: object) -> str:
    return checked_text("name", value, longest=LONGEST_NAME)


def checked_tags(value: object, *, name: str = "tags") -> list[str]:
    """Return the tags trimmed and without duplicates. Of two spellings the first stays."""
    words = name.replace("_", " ")
    if not isinstance(value, list):
        raise ValueRefused(f"The {words} field must be a list.", field=name)
    if len(value) > MOST_TAGS:
        raise ValueRefused(f"The {words} field may have at most {MOST_TAGS} entries.", field=name)
    return distinct_tags(_checked_tag(tag, name, number) for number, tag in enumerate(value))


def _checked_tag(value: object, name: str, number: int) -> str:
    if _is_plain(value, LONGEST_TAG) and (plain := str.strip(value)):
        return plain
    subject = f"Each entry of the {name.replace('_', ' ')} field"
    tag = checked_text(f"{name}.{number}", value, longest=LONGEST_TAG, subject=subject)
    if not tag:
        raise ValueRefused(f"{subject} is required.", field=f"{name}.{number}")
    return tag


def checked_timezone(value: object) -> str | None:
    text = checked_text("timezone", value, longest=LONGEST_EMAIL)
    if text and text not in known_zones():
        message = "The timezone field must be an IANA time zone such as Europe/Berlin."
        raise ValueRefused(message, field="timezone")
    return text or None


@lru_cache(maxsize=1)
def countries() -> dict[str, str]:
    """Return each country's name by its ISO 3166 code, from the time zone database's table."""
    lines = (files("tzdata") / "zoneinfo" / "iso3166.tab").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return {code: name for code, name in pairs}  # noqa: C416  # each line is a list of two


def checked_country(value: object) -> str | None:
    text = checked_text("country", value, longest=LONGEST_EMAIL).upper()
    if text and text not in countries():
        raise ValueRefused("The country field must be a country's code of two letters such as DE.", field="country")
    return text or None


def checked_attributes(value: object, *, name: str = "attributes") -> dict[str, str]:
    """Return named texts, at most fifty."""
    if not isinstance(value, Mapping):
        raise ValueRefused(f"The {name} field must be an object.", field=name)
    if len(value) > MOST_ATTRIBUTES:
        raise ValueRefused(f"The {name} field may have at most {MOST_ATTRIBUTES} names.", field=name)
    if not all(map(is_name, value)):
        raise ValueRefused(f"The {name} field must have names of 1 to 40 characters.", field=name)
    if len({key.strip() for key in value}) < len(value):
        raise ValueRefused(f"The {name} field must not have the same name twice.", field=name)
    return {
        key.strip(): str.strip(text)
        if _is_plain(text, LONGEST_VALUE)
        else checked_text(f"{name}.{key}", text, longest=LONGEST_VALUE, multiline=True)
        for key, text in value.items()
    }


def checked_opt_out(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueRefused("The opted out field must be true or false.", field="opted_out")
    return value


# The check of each field. A checked phone number is a `Phone` with its country.
CHECKS: Mapping[str, Callable[[object], object]] = {
    "name": checked_name,
    "phone": checked_phone,
    "email": checked_email,
    "tags": checked_tags,
    "timezone": checked_timezone,
    "country": checked_country,
    "attributes": checked_attributes,
    "opted_out": checked_opt_out,
}
