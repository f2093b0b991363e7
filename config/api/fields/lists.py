"""Lists with a maximum length."""

from typing import Any

from rest_framework import serializers

from config.api.fields.base import Field


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

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        self._check_length(data)
        values: list[Any] = self.run_child_validation(data)
        if self.distinct and len(set(values)) != len(values):
            self.fail("distinct")
        return values

    def _check_length(self, data: list[Any]) -> None:
        if not data and (self.min_length or not self.allow_empty):
            self.fail("empty")
        if self.min_length is not None and len(data) < self.min_length:
            self.fail("min_length", min_length=self.min_length)
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
