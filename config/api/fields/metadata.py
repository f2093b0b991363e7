"""Metadata: the caller's notes on a resource, short texts by name."""

from typing import Any

import orjson
from rest_framework import serializers

from config.api.fields.base import Field
from config.api.fields.texts import CONTROLS, UNSTORABLE, CharField, is_seen, misleads_in_direction

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

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return super().run_validation({} if data is None else data)

    def to_internal_value(self, data: Any) -> dict[str, str]:
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
        and is_seen(name)
        and not UNSTORABLE.search(name)
        and not CONTROLS.search(name)
        and not misleads_in_direction(name)
    )
