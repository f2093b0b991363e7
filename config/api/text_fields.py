"""Text fields: trimmed, visible, and free of characters that mislead. Metadata is short texts by name."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from zoneinfo import available_timezones

import orjson
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from rest_framework import serializers

from config.api.fields import Field
from config.api.keys import LONGEST_NETWORK, parse_network

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
CONTROLS_BUT_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
STORED = (str, int, float, type(None))
# Overrides and embeddings, which can make a text look like another one.
OVERRIDES = re.compile("[\u202a-\u202e]")
ISOLATES = re.compile("[\u2066-\u2069]")
END_OF_ISOLATE = "\u2069"
# Characters that nobody can see, though their category is not blank: Hangul fillers and the empty Braille pattern.
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
LONGEST_EMAIL = 254
# The start of an encoded word (RFC 2047). Mail programs show the decoded text.
ENCODED_WORD = "=?"
LONGEST_ZONE = 64
# Names in the zone database that are not time zones: the machine's own zone, and a placeholder.
NO_ZONES = frozenset({"Factory", "localtime"})


def can_be_stored(value: object) -> bool:
    """Return whether the database can store all characters and numbers of a JSON value."""
    if isinstance(value, Mapping):
        return all(map(can_be_stored, (*value.keys(), *value.values())))
    if isinstance(value, list):
        return all(map(can_be_stored, value))
    return isinstance(value, STORED) and not (isinstance(value, str) and UNSTORABLE.search(value))


def has_visible_text(text: str) -> bool:
    """Return whether a text shows anything. Zero-width and other blank characters alone show nothing."""
    if text.isascii() and text.isprintable():
        return bool(text) and not text.isspace()
    return any(
        unicodedata.category(character) not in UNSEEN_CATEGORIES and character not in BLANK_LETTERS
        for character in text
    )


def has_unsafe_bidi(text: str) -> bool:
    """Return whether a text overrides or embeds a direction, or has an isolate that is not one of a pair."""
    if OVERRIDES.search(text):
        return True
    depth = 0
    for mark in ISOLATES.findall(text):
        depth += -1 if mark == END_OF_ISOLATE else 1
        if depth < 0:
            return True
    return depth > 0


def is_valid_email(address: str) -> bool:
    """Return whether an e-mail address is valid, and spelled in the one way in which everybody reads it.

    These are refused: a quoted local part, which is another spelling of a plain one; an encoded word, which mail
    programs decode; a letter that becomes another in lower case, such as the Kelvin sign; a domain that the DNS cannot
    name.
    """
    local, _, domain = address.rpartition("@")
    if not local.isascii() or '"' in local or ENCODED_WORD in address:
        return False
    try:
        validate_email(address)
        domain.encode("idna")
    except (ValidationError, UnicodeError):
        return False
    return True


class CharField(Field, serializers.CharField):
    """A trimmed JSON string. `multiline` allows tabs and line breaks (CR LF becomes LF).

    With `blank_as_null` a text that is empty in the database is null for callers. They may send either.
    """

    default_error_messages = {
        "invalid": "{subject} must be a string.",
        "blank": "{subject} is required.",
        "max_length": "{subject} may have at most {max_length} characters.",
        "unstorable": "{subject} holds characters that cannot be stored.",
        "control": "{subject} must not contain control characters.",
        "direction": "{subject} must not contain characters that override the direction of text.",
    }

    def __init__(self, *, multiline: bool = False, blank_as_null: bool = False, **options: Any) -> None:
        if blank_as_null:
            options |= {"allow_blank": True, "allow_null": True}
        super().__init__(**options)
        self.multiline, self.blank_as_null = multiline, blank_as_null
        self.is_written_as_it_is = not blank_as_null

    def to_representation(self, value: Any) -> Any:
        return value or None if self.blank_as_null else value

    def run_validation(self, data: object = serializers.empty) -> object:
        if data is None and self.blank_as_null:
            return ""
        if isinstance(data, str):
            if UNSTORABLE.search(data):
                self.fail("unstorable")
            data = data.replace("\r\n", "\n").strip() if self.multiline else data.strip()
            if not has_visible_text(data):
                return self._blank()
        # This skips CharField's method, which treats blanks differently and converts numbers.
        return super(serializers.CharField, self).run_validation(data)

    def _blank(self) -> str:
        if not self.allow_blank:
            self.fail("blank")
        return ""

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if (CONTROLS_BUT_LINES if self.multiline else CONTROLS).search(data):
            self.fail("control")
        if has_unsafe_bidi(data):
            self.fail("direction")
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return data


class EmailField(CharField, serializers.EmailField):
    default_error_messages = {"email": "{subject} must be a valid e-mail address."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_EMAIL, **options)

    def to_internal_value(self, data: object) -> str:
        text = super().to_internal_value(data)
        if not is_valid_email(text):
            self.fail("email")
        return text


@lru_cache(maxsize=1)
def known_zones() -> frozenset[str]:
    """Return the IANA names that may be chosen. Reading them walks the zone database, so it is done once."""
    return frozenset(available_timezones() - NO_ZONES)


class TimezoneField(CharField):
    default_error_messages = {"zone": "{subject} must be an IANA time zone such as Europe/Berlin."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_ZONE, **options)

    def to_internal_value(self, data: object) -> str:
        text = super().to_internal_value(data)
        if text not in known_zones():
            self.fail("zone")
        return text


class NetworkField(CharField):
    """An address or a network (CIDR) of either family, in its canonical spelling."""

    default_error_messages = {
        "network": "{subject} must be an address or a network such as 192.0.2.0/24 or 2001:db8::/48."
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_NETWORK, **options)

    def to_internal_value(self, data: object) -> str:
        network = parse_network(super().to_internal_value(data))
        if network is None:
            self.fail("network")
        return network


class OpaqueField(Field, serializers.CharField):
    """A JSON string that belongs to the caller and comes back exactly as it was sent."""

    default_error_messages = {
        "invalid": "{subject} must be a string.",
        "unstorable": "{subject} holds characters that cannot be stored.",
        "max_length": "{subject} may have at most {max_length} characters.",
    }

    def __init__(self, *, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, trim_whitespace=False, allow_blank=True, **options)

    def run_validation(self, data: object = serializers.empty) -> object:
        return super(serializers.CharField, self).run_validation(data)

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if UNSTORABLE.search(data):
            self.fail("unstorable")
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return data


MOST_NAMES = 50
LONGEST_NAME = 40
LONGEST_VALUE = 500


class MetadataField(Field, serializers.DictField):
    """A JSON object of at most 50 texts. Names and texts are trimmed; null counts as an empty object.

    The object that is sent replaces everything that was there.
    """

    is_written_as_it_is = False
    default_error_messages = {
        "not_a_dict": "{subject} must be an object.",
        "too_many": "{subject} may have at most {most} names.",
        "twice": "{subject} must not have the same name twice.",
        "name": "{subject} must have names of 1 to {longest} characters.",
    }

    def __init__(self, **options: Any) -> None:
        child = CharField(max_length=LONGEST_VALUE, allow_blank=True, multiline=True)
        super().__init__(**{"child": child, "required": False, "allow_null": True, "default": dict, **options})

    def run_validation(self, data: object = serializers.empty) -> object:
        return super().run_validation({} if data is None else data)

    def to_internal_value(self, data: object) -> dict[str, str]:
        if not isinstance(data, dict):
            self.fail("not_a_dict")
        if len(data) > MOST_NAMES:
            self.fail("too_many", most=MOST_NAMES)
        if not all(map(is_name, data)):
            self.fail("name", longest=LONGEST_NAME)
        given, data = data, {name.strip(): text for name, text in data.items()}
        if len(data) < len(given):
            self.fail("twice")
        texts: dict[str, str] = self.run_child_validation(data)
        return texts

    def to_representation(self, value: Any) -> Any:
        """Return the texts. A plain row from the database has them as a string of JSON."""
        return orjson.loads(value) if isinstance(value, str) else value


def is_name(name: str) -> bool:
    """Return whether a text can be a name. Blanks around it are ignored."""
    name = name.strip()
    if name.isascii() and name.isprintable():
        return len(name) <= LONGEST_NAME and bool(name.strip())
    return (
        len(name) <= LONGEST_NAME
        and has_visible_text(name)
        and not UNSTORABLE.search(name)
        and not CONTROLS.search(name)
        and not has_unsafe_bidi(name)
    )
