"""Serializer fields. They convert no JSON type to another, and all have examples."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NoReturn
from uuid import UUID

from django.utils.dateparse import parse_datetime
from rest_framework import serializers

from config.api.parsers import OutOfRangeNumber, Upload
from config.api.requests import parse_uuid

UNSET: Any = serializers.empty
AnyField = serializers.Field[Any, Any, Any, Any]


def path_of(field: AnyField) -> str:
    """Return a field's dotted path below the body, such as `owner.email`. The path of the body itself is empty."""
    names: list[str] = []
    link: AnyField | None = field
    while link is not None:
        names.append(link.field_name or "")
        link = link.parent
    return ".".join(name for name in reversed(names) if name)


def subject_of(field: AnyField) -> str:
    """Return a sentence's subject: `The owner.email field`, `Each entry of the order field`, `The body`."""
    path = path_of(field).replace("_", " ")
    if not path:
        return "The body"
    return f"The {path} field" if field.field_name else f"Each entry of the {path} field"


class FieldErrors(serializers.Field[Any, Any, Any, Any]):
    """A field whose errors name it. Messages may use `{subject}`."""

    default_error_messages = {"required": "{subject} is required.", "null": "{subject} is required."}

    def fail(self, key: str, **parameters: object) -> NoReturn:
        super().fail(key, subject=subject_of(self), **parameters)


class Field(FieldErrors):
    """A field with one value.

    The documents show `example`; without it an example is made from the type. `is_written_as_it_is` says that the JSON
    writer takes the value without a conversion.
    """

    is_written_as_it_is: bool = True

    def __init__(self, *choices: Any, example: object = UNSET, **options: Any) -> None:
        super().__init__(*choices, **options)
        self.example_value = example


class UploadField(Field, serializers.FileField):
    """An uploaded file, as `read_upload` returns it."""

    default_error_messages = {"invalid": "{subject} must be a file."}

    def to_internal_value(self, data: object) -> Upload:
        if not isinstance(data, Upload):
            self.fail("invalid")
        return data


class ListField(Field, serializers.ListField):
    """A JSON array of at most `max_length` entries. With `distinct` no entry may occur twice."""

    default_error_messages = {
        "not_a_list": "{subject} must be a list.",
        "min_length": "{subject} must have at least {min_length} entries.",
        "empty": "{subject} is required.",
        "max_length": "{subject} may have at most {max_length} entries.",
        "distinct": "{subject} must not name the same entry twice.",
    }

    def __init__(self, *, distinct: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.distinct = distinct

    def to_internal_value(self, data: object) -> list[object]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        self._check_length(data)
        values: list[object] = self.run_child_validation(data)
        if self.distinct and len(set(values)) != len(values):
            self.fail("distinct")
        return values

    def _check_length(self, data: list[object]) -> None:
        if not data and (self.min_length or not self.allow_empty):
            self.fail("empty")
        if self.min_length is not None and len(data) < self.min_length:
            self.fail("min_length", min_length=self.min_length)
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)


NO_TIME: Final = "must be an ISO 8601 time with an offset."
OUT_OF_RANGE: Final = "is out of range."
# Times keep this distance from the ends of the calendar. No zone's offset is larger, so a time is within the calendar
# both in UTC and on any person's local clock.
MARGIN: Final = timedelta(days=1)
NO_MARGIN: Final = timedelta(0)
EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)


class DateTimeOutOfRange(ValueError):
    """A time whose year would be 0 or 10000 on some local clock."""


def parse_aware_datetime(text: object, *, margin: timedelta = MARGIN) -> datetime | None:
    """Parse a time with an offset; None for any other text. Raises `DateTimeOutOfRange`.

    A time that is only compared with others, and shown on no clock, needs no margin.
    """
    try:
        found = parse_datetime(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if found is None or found.tzinfo is None:
        return None
    try:
        is_within = EARLIEST + margin <= found.astimezone(UTC) <= LATEST - margin
    except OverflowError as error:
        raise DateTimeOutOfRange from error
    if not is_within:
        raise DateTimeOutOfRange
    return found


LARGEST_INTEGER = 2**31 - 1


class UUIDField(Field, serializers.UUIDField):
    default_error_messages = {"invalid": "{subject} must be a uuid."}

    def to_internal_value(self, data: object) -> UUID:
        found = parse_uuid(data) if isinstance(data, str) else None
        if found is None:
            self.fail("invalid")
        return found


class ChoiceField(Field, serializers.ChoiceField):
    default_error_messages = {"invalid_choice": "{subject} must be one of: {choices}."}

    def to_internal_value(self, data: object) -> object:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(map(str, self.choices)))
        return data


class BooleanField(Field, serializers.BooleanField):
    default_error_messages = {"invalid": "{subject} must be true or false."}

    def to_internal_value(self, data: object) -> bool:
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

    def to_internal_value(self, data: object) -> int:
        if isinstance(data, OutOfRangeNumber):
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

    def to_internal_value(self, data: object) -> Decimal:
        if isinstance(data, OutOfRangeNumber):
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

    def run_validators(self, value: object) -> None:
        """Do nothing: `to_internal_value` has checked the exact number. The bounds are there for the documents."""

    def to_representation(self, value: Decimal | float) -> float:
        return float(value)


class DateTimeField(Field, serializers.DateTimeField):
    """An ISO 8601 time with an offset, without which it would be ambiguous. The JSON writer gives it in UTC."""

    default_error_messages = {"invalid": f"{{subject}} {NO_TIME}", "out_of_range": f"{{subject}} {OUT_OF_RANGE}"}

    def to_internal_value(self, data: object) -> datetime:
        try:
            found = parse_aware_datetime(data)
        except DateTimeOutOfRange:
            self.fail("out_of_range")
        if found is None:
            self.fail("invalid")
        return found


ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class DateField(Field, serializers.DateField):
    """A date such as `2026-12-24`, in no zone."""

    default_error_messages = {"invalid": "{subject} must be a date such as 2026-12-24."}

    def to_internal_value(self, data: object) -> date:
        try:
            return date.fromisoformat(data if isinstance(data, str) and ISO_DATE.fullmatch(data) else "")
        except ValueError:
            self.fail("invalid")


class URLField(Field, serializers.URLField):
    """A read-only address."""


class DictField(Field, serializers.DictField):
    """An object with any names, whose values are not checked."""

    default_error_messages = {"not_a_dict": "{subject} must be an object."}

    def to_internal_value(self, data: object) -> object:
        if not isinstance(data, dict):
            self.fail("not_a_dict")
        return super().to_internal_value(data)
