"""Writes a serializer's instances as dicts, by a function that is compiled once per class.

DRF's own `to_representation` asks each field again for each row. Here the fields are looked at once and become one
Python expression, as in `dataclasses` and `namedtuple`. The expression reads attributes of instances (models,
dataclasses) or columns of rows (dicts from `.values()` or from a cursor with named columns). A row holds a nested
object under joined names (`plan__uuid`), or whole under the field's own name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from keyword import iskeyword
from typing import Any

from django.db.models import Manager
from rest_framework import serializers

Build = Callable[[Any], dict[str, Any]]
Convert = Callable[[Any], Any]
AnyField = serializers.Field[Any, Any, Any, Any]
WHOLE = "*"


class IncompleteRow(TypeError):
    """A row lacks a column that its serializer writes."""


@cache
def representation_of(serializer: type[serializers.BaseSerializer[Any]]) -> "Representation":
    """Return the compiled representation of a serializer class. The class's fields must not depend on its context."""
    return Representation(serializer())


def readable_fields(serializer: Any) -> Iterator[tuple[str, AnyField]]:
    """Return the fields that are shown, in their order."""
    return ((name, field) for name, field in serializer.fields.items() if not field.write_only)


class Representation:
    """The compiled form of one serializer class."""

    def __init__(self, serializer: Any) -> None:
        self._fields = dict(readable_fields(serializer))
        self._build_instance = _Expression(self._fields).compiled()
        self._row_builders: dict[tuple[str, ...], Build] = {}

    def build(self, instance: Any) -> dict[str, Any]:
        """Write a model instance, any other object with these attributes, or a row (a dict)."""
        return self._build_row(instance) if isinstance(instance, dict) else self._build_instance(instance)

    def build_all(self, instances: Any) -> list[dict[str, Any]]:
        """Write all instances. A manager stands for all of its objects."""
        return [self.build(each) for each in (instances.all() if isinstance(instances, Manager) else instances)]

    def _build_row(self, row: dict[str, Any]) -> dict[str, Any]:
        columns = tuple(row)
        build = self._row_builders.get(columns)
        if build is None:
            build = self._row_builders[columns] = _RowExpression(self._fields, frozenset(columns)).compiled()
        return build(row)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the column names of a row, nested ones joined by two underscores, as `.values()` takes them."""
        return tuple(_columns(self._fields, ""))


def _columns(fields: Mapping[str, AnyField], prefix: str) -> Iterable[str]:
    for field in fields.values():
        nested = _nested(field)
        if nested is None:
            yield prefix + _joined(field)
        else:
            yield from _columns(dict(readable_fields(nested)), _prefix(field, prefix))


def _joined(field: AnyField) -> str:
    return str(field.source).replace(".", "__")


def _prefix(field: AnyField, prefix: str) -> str:
    return prefix if field.source == WHOLE else f"{prefix}{_joined(field)}__"


def _nested(field: AnyField) -> Any:
    """Return the serializer of a nested object; None for a list of objects and for every other field."""
    nested = getattr(field, "representation", field)
    return nested if isinstance(nested, serializers.Serializer) else None


def _conversion(field: AnyField) -> Convert | None:
    """Return the function that converts a field's value; None if the value is written as it is."""
    nested = _nested(field)
    if nested is not None:
        return _representation_of(nested).build
    if isinstance(field, serializers.ListSerializer):
        return _representation_of(field.child).build_all
    return None if getattr(field, "is_written_as_it_is", False) else partial(_convert, field)


def _representation_of(serializer: Any) -> Representation:
    kind: Any = type(serializer)
    return representation_of(kind)


def _convert(field: AnyField, value: Any) -> Any:
    return field.to_representation(value)


class _Expression:
    """The expression `{name: value, …}` over one variable. Conversions are called by generated names."""

    def __init__(self, fields: Mapping[str, AnyField]) -> None:
        self.names: dict[str, Convert] = {}
        self.text = self.object_of(fields, "")

    def compiled(self) -> Build:
        build: Build = eval(f"lambda it: {self.text}", self.names)  # noqa: S307  # only names of our own classes
        return build

    def object_of(self, fields: Mapping[str, AnyField], prefix: str) -> str:
        return "{" + ", ".join(f"{name!r}: {self.value_of(field, prefix)}" for name, field in fields.items()) + "}"

    def value_of(self, field: AnyField, prefix: str) -> str:
        if field.source == WHOLE and _nested(field) is not None:
            return self.object_of(dict(readable_fields(_nested(field))), prefix)
        return self.converted(field, self.access(field, prefix))

    def access(self, field: AnyField, prefix: str) -> str:
        if iskeyword(str(field.source)):
            return f"getattr(it, {field.source!r})"
        return "it" if field.source == WHOLE else f"it.{field.source}"

    def converted(self, field: AnyField, value: str) -> str:
        convert = _conversion(field)
        if convert is None:
            return value
        number = len(self.names)
        self.names[f"convert_{number}"] = convert
        return f"None if (v{number} := {value}) is None else convert_{number}(v{number})"


class _RowExpression(_Expression):
    """The same expression over a row with these columns."""

    def __init__(self, fields: Mapping[str, AnyField], columns: frozenset[str]) -> None:
        self.columns = columns
        super().__init__(fields)

    def access(self, field: AnyField, prefix: str) -> str:
        column = prefix + _joined(field)
        if column not in self.columns:
            raise IncompleteRow(f"A row has no column {column}.")
        return f"it[{column!r}]"

    def value_of(self, field: AnyField, prefix: str) -> str:
        nested = _nested(field)
        if nested is None or field.source == WHOLE or prefix + _joined(field) in self.columns:
            return super().value_of(field, prefix)
        fields, below = dict(readable_fields(nested)), _prefix(field, prefix)
        built = self.object_of(fields, below)
        if not field.allow_null:
            return built
        # A joined object is null if its first column is.
        return f"None if {self.access(next(iter(fields.values())), below)} is None else {built}"
