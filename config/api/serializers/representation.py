"""Writes a serializer's instances as dicts by a function that is compiled once per class.

DRF's own `to_representation` asks each field anew for each row. Here the fields are looked at once: what is written
as it is comes out of one `attrgetter` (model instances, dataclasses) or `itemgetter` (rows, as `.values()` or a cursor
with named columns gives them), and only nested serializers and fields with a form of their own are called.
A row holds nested values under joined names (`plan__uuid`), or whole under the field's own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from operator import attrgetter, itemgetter
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
    """Give the compiled representation of a serializer class, whose fields must not depend on its context."""
    return Representation(serializer())


def readable_fields(serializer: Any) -> Iterator[tuple[str, AnyField]]:
    """Give the fields that are shown, in their order."""
    return ((name, field) for name, field in serializer.fields.items() if not field.write_only)


def _source(field: AnyField) -> str:
    return str(field.source)


class Representation:
    """The compiled form of one serializer class."""

    def __init__(self, serializer: Any) -> None:
        self._fields = dict(readable_fields(serializer))
        self._build_instance: Build = _instance_builder(self._fields)
        self._row_builders: dict[tuple[str, ...], Build] = {}

    def build(self, instance: Any) -> dict[str, Any]:
        """Write a model instance, any other object with these attributes, or a row (a dict)."""
        return self.build_row(instance) if isinstance(instance, dict) else self._build_instance(instance)

    def build_row(self, row: dict[str, Any]) -> dict[str, Any]:
        columns = tuple(row)
        build = self._row_builders.get(columns)
        if build is None:
            build = self._row_builders[columns] = _row_builder(self._fields, frozenset(columns))
        return build(row)

    def columns(self, prefix: str = "") -> list[str]:
        """Name the columns of a row, nested ones joined by two underscores, as `.values()` takes them."""
        return list(_columns(self._fields, prefix))


def _columns(fields: Mapping[str, AnyField], prefix: str) -> Iterator[str]:
    for field in fields.values():
        child = _child_of(field)
        if child is None:
            yield prefix + _source(field).replace(".", "__")
        else:
            yield from child.columns(_prefix_of(field, prefix))


def _prefix_of(field: AnyField, prefix: str) -> str:
    return prefix if _source(field) == WHOLE else f"{prefix}{_source(field).replace('.', '__')}__"


def _child_of(field: AnyField) -> Representation | None:
    """Give the representation of a nested serializer; None for a list of them and for every other field."""
    nested = getattr(field, "representation", field)
    return representation_of(type(nested)) if isinstance(nested, serializers.Serializer) else None


def _conversion(field: AnyField) -> Convert | None:
    """Give what turns a field's value into what is written; None where it is written as it is."""
    child = _child_of(field)
    if child is not None:
        return child.build
    if isinstance(field, serializers.ListSerializer):
        return partial(_build_all, representation_of(type(field.child)).build)
    return None if getattr(field, "is_written_as_it_is", False) else field.to_representation


def _build_all(build: Build, values: Iterable[Any]) -> list[dict[str, Any]]:
    return [build(value) for value in (values.all() if isinstance(values, Manager) else values)]


def _getter(kind: Callable[..., Any], names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Give the values of these names as a tuple; the getters of `operator` do not where there is only one."""
    if len(names) == 1:
        one = kind(names[0])
        return lambda instance: (one(instance),)
    return kind(*names) if names else lambda instance: ()


def _instance_builder(fields: Mapping[str, AnyField]) -> Build:
    names = tuple(fields)
    # A field whose source is the whole instance has its place kept by an attribute that every object has.
    sources = ["__class__" if _source(field) == WHOLE else _source(field) for field in fields.values()]
    values_of = _getter(attrgetter, sources)
    conversions = [(name, convert) for name, field in fields.items() if (convert := _conversion(field))]
    of_whole = {name for name, field in fields.items() if _source(field) == WHOLE}
    whole = [(name, convert) for name, convert in conversions if name in of_whole]
    single = [(name, convert) for name, convert in conversions if name not in of_whole]

    def build(instance: Any) -> dict[str, Any]:
        data = dict(zip(names, values_of(instance), strict=True))
        for name, convert in whole:
            data[name] = convert(instance)
        for name, convert in single:
            value = data[name]
            if value is not None:
                data[name] = convert(value)
        return data

    return build


def _row_builder(fields: Mapping[str, AnyField], columns: frozenset[str], prefix: str = "") -> Build:
    names, keys = tuple(fields), [_key(field, columns, prefix) for field in fields.values()]
    values_of = _getter(itemgetter, [key or _any(columns) for key in keys])
    single: list[tuple[str, Convert]] = []
    joined: list[tuple[str, Build]] = []
    for (name, field), key in zip(fields.items(), keys, strict=True):
        convert = _conversion(field)
        if key is None:
            joined.append((name, _joined_builder(field, columns, prefix)))
        elif convert is not None:
            single.append((name, convert))

    def build(row: Any) -> dict[str, Any]:
        data = dict(zip(names, values_of(row), strict=True))
        for name, convert in joined:
            data[name] = convert(row)
        for name, convert in single:
            value = data[name]
            if value is not None:
                data[name] = convert(value)
        return data

    return build


def _any(columns: frozenset[str]) -> str:
    return next(iter(columns))


def _key(field: AnyField, columns: frozenset[str], prefix: str) -> str | None:
    """Give the column that holds a field's value; None where the columns of a nested serializer hold it."""
    key = prefix + _source(field).replace(".", "__")
    if key in columns:
        return key
    if _child_of(field) is None:
        raise IncompleteRow(f"A row has no column {key}.")
    return None


def _joined_builder(field: AnyField, columns: frozenset[str], prefix: str) -> Callable[[Any], Any]:
    """Write a nested object out of joined columns; it is null where the first of them is and may be."""
    nested: Any = getattr(field, "representation", field)
    fields = dict(readable_fields(nested))
    below = _prefix_of(field, prefix)
    build = _row_builder(fields, columns, below)
    if not field.allow_null:
        return build
    first = _key(next(iter(fields.values())), columns, below)
    return lambda row: None if row[first] is None else build(row)
