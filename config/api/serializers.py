"""Serializers: each describes once what a resource reads, accepts, documents and sends.

Answers are written by a function that is compiled once per class. DRF's own `to_representation` asks each field again
for each row. Here the fields are looked at once and become one Python expression, as in `dataclasses` and
`namedtuple`. The expression reads attributes of instances (models, dataclasses) or columns of rows (dicts from
`.values()` or from a cursor with named columns). A row holds a nested object under joined names (`plan__uuid`), or
whole under the field's own name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property, partial
from keyword import iskeyword
from typing import Any, ClassVar
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db.models import Manager, Model, QuerySet
from rest_framework import serializers

from config.api.errors import NON_FIELD_KEY
from config.api.fields import UNSET, AnyField, BooleanField, FieldErrors, ListField, UUIDField, subject_of
from config.errors import NotFound

AnySerializer = serializers.Serializer[Any]
MOMENT = "2026-11-20T09:30:00Z"


def example_of_field(field: AnyField, *, request: bool = False) -> object:
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


def _of_serializer(serializer: Any, *, request: bool) -> object:
    kind = type(serializer)
    return kind.request_example() if request else kind.example()


def _by_type(field: AnyField) -> object:
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


Build = Callable[[object], dict[str, object]]
Convert = Callable[[Any], object]
WHOLE = "*"


class IncompleteRow(TypeError):
    """A row lacks a column that its serializer writes."""


@cache
def representation_of(serializer: type[serializers.BaseSerializer[object]]) -> "Representation":
    """Return the compiled representation of a serializer class. The class's fields must not depend on its context."""
    return Representation(serializer())


def readable_fields(serializer: AnySerializer) -> Iterator[tuple[str, AnyField]]:
    """Return the fields that are shown, in their order."""
    return ((name, field) for name, field in serializer.fields.items() if not field.write_only)


class Representation:
    """The compiled form of one serializer class."""

    def __init__(self, serializer: Any) -> None:
        self._fields = dict(readable_fields(serializer))
        self._build_instance = _Expression(self._fields).compiled()
        self._row_builders: dict[tuple[str, ...], Build] = {}

    def build(self, instance: object) -> dict[str, object]:
        """Write a model instance, any other object with these attributes, or a row (a dict)."""
        return self._build_row(instance) if isinstance(instance, dict) else self._build_instance(instance)

    def build_all(self, instances: Iterable[object] | Manager[Model]) -> list[dict[str, object]]:
        """Write all instances. A manager stands for all of its objects."""
        return [self.build(each) for each in (instances.all() if isinstance(instances, Manager) else instances)]

    def _build_row(self, row: dict[str, object]) -> dict[str, object]:
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


def _nested(field: AnyField) -> AnySerializer | None:
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


def _convert(field: AnyField, value: object) -> object:
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
        nested = _nested(field)
        if field.source == WHOLE and nested is not None:
            return self.object_of(dict(readable_fields(nested)), prefix)
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


Lookup = Callable[[Mapping[str, Any]], "QuerySet[Model]"]


class TenantRelatedField(UUIDField):
    """Takes a uuid, looks it up in `queryset(context)`, and shows the object as `representation` writes it.

    An object that is not found there reads like one that does not exist. `missing` is raised after all other fields
    were checked.
    """

    is_written_as_it_is = False

    def __init__(
        self, *, queryset: Lookup, missing: type[NotFound], representation: serializers.Serializer[Any], **options: Any
    ) -> None:
        super().__init__(**options)
        self.queryset, self.missing, self.representation = queryset, missing, representation

    def find(self, uuid: UUID | None) -> Model | None:
        """Look up the object. Raises `missing`."""
        if uuid is None:
            return None
        found = self.queryset(self.context).filter(uuid=uuid).first()
        if found is None:
            raise self.missing
        return found

    def to_representation(self, value: object) -> object:
        return representation_of(type(self.representation)).build(value)


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

    def to_representation(self, instance: object) -> dict[str, object]:
        return representation_of(type(self)).build(instance)

    def to_internal_value(self, data: object) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError({NON_FIELD_KEY: [f"{subject_of(self)} must be an object."]})
        if self.refuses_unknown_fields:
            self._refuse_unknown_fields(data)
        with self._whole_entry():
            values = super().to_internal_value(self._without_optional_nulls(data))
        for field in self._writable_fields:
            if isinstance(field, TenantRelatedField) and field.source in values:
                values[field.source] = field.find(values[field.source])
        return values

    @contextmanager
    def _whole_entry(self) -> Iterator[None]:
        """Let an entry of a list be written whole, also by a partial change: its fields are required, with defaults."""
        root = self.root
        is_partial = isinstance(self.parent, ListField) and getattr(root, "partial", False)
        if is_partial:
            root.partial = False
        try:
            yield
        finally:
            if is_partial:
                root.partial = True

    def _refuse_unknown_fields(self, data: Mapping[str, object]) -> None:
        """Refuse what no field is for; a name is shown as far as it can be."""
        taken = {field.field_name for field in self._writable_fields}
        unknown = [name for name in data if name not in taken][:MOST_UNKNOWN]
        shown = {name: name.encode(errors="replace").decode()[:LONGEST_UNKNOWN] for name in unknown}
        errors = {
            text: [self.unknown_fields.get(name, f"The {text} field is not known.")] for name, text in shown.items()
        }
        if errors:
            raise serializers.ValidationError(errors)

    def _without_optional_nulls(self, data: Mapping[str, object]) -> Mapping[str, object]:
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
    def example(cls) -> dict[str, object]:
        """Give an answer as the document shows it, from the fields' own examples."""
        return {name: example_of_field(field) for name, field in readable_fields(cls())}

    @classmethod
    def request_example(cls) -> dict[str, Any]:
        """Give a body as the document shows it."""
        fields = cls().fields.items()
        return {name: example_of_field(field, request=True) for name, field in fields if not field.read_only}


class DeletedSerializer(Serializer):
    """Confirmation."""

    deleted = BooleanField(example=True)
