"""Short values with a meaning of their own: ids, one of a few texts, yes or no, numbers, times."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime
from rest_framework import serializers

from config.api.fields.base import Field
from config.api.requests.ids import parse_uuid
from config.api.requests.strict_json import OutOfRange

LARGEST_INTEGER = 2**31 - 1


class UUIDField(Field, serializers.UUIDField):
    default_error_messages = {"invalid": "{subject} must be a uuid."}

    def to_internal_value(self, data: Any) -> UUID:
        found = parse_uuid(data) if isinstance(data, str) else None
        if found is None:
            self.fail("invalid")
        return found


class ChoiceField(Field, serializers.ChoiceField):
    default_error_messages = {"invalid_choice": "{subject} must be one of: {choices}."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(map(str, self.choices)))
        return data


class BooleanField(Field, serializers.BooleanField):
    default_error_messages = {"invalid": "{subject} must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if data is not True and data is not False:
            self.fail("invalid")
        return bool(data)


class IntegerField(Field, serializers.IntegerField):
    """A JSON integer; texts, fractions and booleans are none."""

    default_error_messages = {
        "invalid": "{subject} must be a whole number.",
        "out_of_range": "{subject} is out of range.",
        "min_value": "{subject} must be at least {min_value}.",
        "max_value": "{subject} may be at most {max_value}.",
    }

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, OutOfRange):
            self.fail("out_of_range")
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        if self.min_value is not None and data < self.min_value:
            self.fail("min_value", min_value=self.min_value)
        largest = LARGEST_INTEGER if self.max_value is None else self.max_value
        if data > largest:
            self.fail("max_value", max_value=largest)
        return data


class FloatField(Field, serializers.FloatField):
    """A number that is only read."""


class DateTimeField(Field, serializers.DateTimeField):
    """A time: ISO 8601 with an offset, without which it would be anybody's guess. The JSON writer gives it in UTC."""

    default_error_messages = {"invalid": "{subject} must be an ISO 8601 time with an offset."}

    def to_internal_value(self, data: Any) -> datetime:
        try:
            found = parse_datetime(data) if isinstance(data, str) else None
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            self.fail("invalid")
        return found


class URLField(Field, serializers.URLField):
    """An address that is only read."""


class DictField(Field, serializers.DictField):
    """An object with names of its own that is only read."""
