"""The base of every serializer."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import serializers

from config.api.errors.validation import WHOLE
from config.api.fields.base import FieldErrors, subject_of
from config.api.serializers.examples import example_of_field
from config.api.serializers.related import RelatedField
from config.api.serializers.representation import readable_fields, representation_of

MOST_UNKNOWN = 20
LONGEST_UNKNOWN = 60


class Serializer(FieldErrors, serializers.Serializer[Any]):
    """A resource or an object within one.

    Reading: `Serializer(instance).data`, `Serializer(rows, many=True).data`, of model instances, of other objects with
    these attributes, and of rows as dicts (`.values(*columns())`, or a cursor with these column names).
    Writing: unknown fields are ignored, no type is converted to another, refusals name the field; null in an optional
    field is like leaving it out, but for a partial change. Related objects are looked up when everything else is valid.
    Answers hold all fields but those of `may_be_absent` that an instance, a row then, does not have.
    """

    may_be_absent: ClassVar[tuple[str, ...]] = ()
    # For serializers where ignoring a field would do harm: unknown fields are refused. `unknown_fields` has sentences
    # for some of them.
    refuses_unknown_fields: ClassVar[bool] = False
    unknown_fields: ClassVar[Mapping[str, str]] = {}

    def to_representation(self, instance: Any) -> Any:
        return representation_of(type(self)).build(instance)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError({WHOLE: [f"{subject_of(self)} must be an object."]})
        if self.refuses_unknown_fields:
            self._refuse_unknown_fields(data)
        values = super().to_internal_value(self._without_optional_nulls(data))
        for field in self._writable_fields:
            if isinstance(field, RelatedField) and field.source in values:
                values[field.source] = field.find(values[field.source])
        return values

    def _refuse_unknown_fields(self, data: Mapping[str, Any]) -> None:
        """Refuse what no field is for; a name is shown as far as it can be."""
        taken = {field.field_name for field in self._writable_fields}
        unknown = [name for name in data if name not in taken][:MOST_UNKNOWN]
        shown = {name: name.encode(errors="replace").decode()[:LONGEST_UNKNOWN] for name in unknown}
        errors = {
            text: [self.unknown_fields.get(name, f"The {text} field is not known.")] for name, text in shown.items()
        }
        if errors:
            raise serializers.ValidationError(errors)

    def _without_optional_nulls(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        if None not in data.values() or getattr(self.root, "partial", False):
            return data
        optional = {field.field_name for field in self._writable_fields if not (field.required or field.allow_null)}
        return {name: value for name, value in data.items() if value is not None or name not in optional}

    @property
    def sent(self) -> frozenset[str]:
        """Which of the declared fields the body named."""
        return frozenset(self.initial_data) & frozenset(self.fields)

    @property
    def changes(self) -> dict[str, Any]:
        """Give the validated values of the fields that were sent, without defaults: what a PATCH changes."""
        values: dict[str, Any] = self.validated_data
        sources = [self.fields[name].source for name in self.sent]
        return {source: values[source] for source in sources if source in values}

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Name the columns that a row must have to be written, such as `name` and `plan__uuid`."""
        return representation_of(cls).columns

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Give an answer as the document shows it, from the fields' own examples."""
        return {name: example_of_field(field) for name, field in readable_fields(cls())}

    @classmethod
    def request_example(cls) -> dict[str, Any]:
        """Give a body as the document shows it."""
        fields = cls().fields.items()
        return {name: example_of_field(field, request=True) for name, field in fields if not field.read_only}
