"""Short values with a meaning of their own: ids, one of a few words, yes or no."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from config.api.fields.spoken import Spoken
from config.api.ids import parse_uuid


class Uuid(Spoken, serializers.UUIDField):
    default_error_messages = {"invalid": "{subject} must be a uuid."}

    def to_internal_value(self, data: Any) -> UUID:
        found = parse_uuid(data) if isinstance(data, str) else None
        if found is None:
            self.fail("invalid")
        return found


class Choice(Spoken, serializers.ChoiceField):
    default_error_messages = {"invalid_choice": "{subject} must be one of: {choices}."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(map(str, self.choices)))
        return data


class Flag(Spoken, serializers.BooleanField):
    default_error_messages = {"invalid": "{subject} must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if data is not True and data is not False:
            self.fail("invalid")
        return bool(data)
