"""The words of a write: declared fields only, strictly typed, refused in sentences that name the field."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from config.api.fields.spoken import Spoken, subject_of
from config.api.validation import WHOLE


class Words(Spoken, serializers.Serializer[Any]):
    """An object of the body. Unknown fields are ignored; `sent` names the declared ones that were there."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError({WHOLE: [f"{subject_of(self)} must be an object."]})
        return super().to_internal_value(data)

    @property
    def sent(self) -> frozenset[str]:
        return frozenset(self.initial_data) & frozenset(self.fields)

    @property
    def changes(self) -> dict[str, Any]:
        """Give the validated fields that were really sent, without defaults: what a PATCH changes."""
        values: dict[str, Any] = self.validated_data
        return {name: values[name] for name in self.sent if name in values}
