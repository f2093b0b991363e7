"""Fields for short values: ids, choices, booleans, numbers and times."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from rest_framework import serializers

from config.api.fields.base import Field
from config.api.fields.moments import NO_TIME, OUT_OF_RANGE, BeyondCalendar, moment_of
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
    """A JSON integer. Strings, fractions and booleans are refused."""

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
    """A read-only number."""


class DecimalField(Field, serializers.FloatField):
    """A JSON number with at most `decimal_places`, read as a `Decimal` and written as a number. Strings are refused."""

    is_written_as_it_is = False
    default_error_messages = {
        "invalid": "{subject} must be a number.",
        "out_of_range": "{subject} is out of range.",
        "decimal_places": "{subject} may have at most {decimal_places} decimals.",
        "min_value": "{subject} must be at least {min_value}.",
        "max_value": "{subject} may be at most {max_value}.",
    }

    def __init__(self, *, min_value: Decimal, max_value: Decimal, decimal_places: int, **options: Any) -> None:
        super().__init__(min_value=float(min_value), max_value=float(max_value), **options)
        self.least, self.most, self.decimal_places = min_value, max_value, decimal_places

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, OutOfRange):
            self.fail("out_of_range")
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        number = Decimal(repr(data))
        if number < self.least:
            self.fail("min_value", min_value=self.least)
        if number > self.most:
            self.fail("max_value", max_value=self.most)
        rounded = round(number, self.decimal_places) + 0  # minus zero becomes zero
        if rounded != number:
            self.fail("decimal_places", decimal_places=self.decimal_places)
        return rounded

    def run_validators(self, value: Any) -> None:
        """Do nothing: `to_internal_value` has checked the exact number. The bounds are there for the documents."""

    def to_representation(self, value: Any) -> float:
        return float(value)


class DateTimeField(Field, serializers.DateTimeField):
    """An ISO 8601 time with an offset, without which it would be ambiguous. The JSON writer gives it in UTC."""

    default_error_messages = {"invalid": f"{{subject}} {NO_TIME}", "out_of_range": f"{{subject}} {OUT_OF_RANGE}"}

    def to_internal_value(self, data: Any) -> datetime:
        try:
            found = moment_of(data)
        except BeyondCalendar:
            self.fail("out_of_range")
        if found is None:
            self.fail("invalid")
        return found


class URLField(Field, serializers.URLField):
    """A read-only address."""


class DictField(Field, serializers.DictField):
    """An object with any names, whose values are not checked."""

    default_error_messages = {"not_a_dict": "{subject} must be an object."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("not_a_dict")
        return super().to_internal_value(data)
