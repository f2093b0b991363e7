"""Examples for the documents, made from the fields' own."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from rest_framework import serializers

from config.api.fields.base import UNSET

MOMENT = "2026-11-20T09:30:00Z"


def example_of_field(field: Any, *, request: bool = False) -> Any:
    """Return a field's example: its own, else that of its nested serializer or list, else one by its type."""
    own = getattr(field, "example_value", UNSET)
    if own is not UNSET:
        return own
    nested = field if request else getattr(field, "representation", field)
    if isinstance(nested, serializers.ListSerializer):
        return [_of_serializer(nested.child, request=request)]
    if isinstance(nested, serializers.Serializer):
        return _of_serializer(nested, request=request)
    if isinstance(nested, serializers.ListField):
        return [example_of_field(nested.child, request=request)]
    return _by_type(field)


def _of_serializer(serializer: Any, *, request: bool) -> Any:
    kind = type(serializer)
    return kind.request_example() if request else kind.example()


def _by_type(field: Any) -> Any:
    if isinstance(field, serializers.UUIDField):
        return str(uuid5(NAMESPACE_URL, f"{type(field.parent).__name__}.{field.field_name}"))
    if isinstance(field, serializers.ChoiceField):
        return next(iter(field.choices))
    if isinstance(field, serializers.DateTimeField):
        return None if field.allow_null else MOMENT
    if isinstance(field, serializers.BooleanField):
        return False
    if isinstance(field, serializers.IntegerField | serializers.FloatField):
        return field.min_value or 0
    if field.allow_null:
        return None
    return (field.field_name or "text").replace("_", " ").capitalize()
