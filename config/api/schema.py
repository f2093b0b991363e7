"""How endpoints describe themselves in the OpenAPI documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import is_list_serializer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import Direction, OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from config.api.documents.answers import either
from config.api.fields import Email

Shape = type[serializers.Serializer[Any]]
Handler = TypeVar("Handler", bound=Callable[..., Any])
DESCRIPTION_ATTRIBUTE = "api_errors"


class Operation(AutoSchema):
    """Introspection without guesses: a list is what is declared as one; names come from `Documented`."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        return bool(is_list_serializer(serializer))

    def get_description(self) -> str:  # type: ignore[override]  # DRF's own takes path and method, spectacular's none
        """Say nothing beyond the summary: docstrings are for those who read the code."""
        return ""

    def get_tags(self) -> list[str]:
        return [word.replace("-", " ").capitalize() for word in super().get_tags()]

    def get_extensions(self) -> dict[str, Any]:
        """Carry an operation's own errors to the document, which takes them out again."""
        action = getattr(self.view, "action", None) or self.method.lower()
        return {"x-errors": dict(getattr(getattr(self.view, action), DESCRIPTION_ATTRIBUTE, {}))}

    def _get_request_body(self, direction: Direction = "request") -> dict[str, Any] | None:
        """A body may be left out where the view says so, and not because all of its fields may."""
        untyped: Any = super()  # the library's own methods carry no types
        body: dict[str, Any] | None = untyped._get_request_body(direction)
        return body and body | {"required": not getattr(self.view, "body_optional", False)}

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> dict[str, Any]:
        """Describe an object by its own docstring, never by that of a base class."""
        untyped: Any = super()  # the library's own methods carry no types
        schema: dict[str, Any] = untyped._map_basic_serializer(serializer, direction)
        if not vars(type(serializer)).get("__doc__"):
            schema.pop("description", None)
        return schema

    def _map_serializer_field(self, field: Any, direction: Direction, bypass_extensions: bool = False) -> Any:
        """Say of a field what the library does not see, and take out the library's own marks."""
        untyped: Any = super()  # the library's own methods carry no types
        schema: Any = untyped._map_serializer_field(field, direction, bypass_extensions)
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, serializers.ListField) and not field.allow_empty:
            schema.setdefault("minItems", 1)
        if getattr(field, "distinct", False):
            schema["uniqueItems"] = True
        if isinstance(field, Email):
            schema["format"] = "email"
        return schema


class _Links(serializers.Serializer[Any]):
    first = serializers.URLField()
    last = serializers.URLField()
    prev = serializers.URLField(allow_null=True)
    next = serializers.URLField(allow_null=True)

    class Meta:
        ref_name = "PageLinks"


class _Meta(serializers.Serializer[Any]):
    current_page = serializers.IntegerField()
    per_page = serializers.IntegerField()
    last_page = serializers.IntegerField()
    total = serializers.IntegerField()

    def get_fields(self) -> dict[str, Any]:
        position = {name: serializers.IntegerField(allow_null=True) for name in ("from", "to")}
        return {**super().get_fields(), **position}


_Links.__name__, _Meta.__name__ = "PageLinks", "PageMeta"


# The second of four pages, so that every link leads somewhere.
PAGE_EXAMPLE = {
    "links": {
        "first": "https://app.example.com/api/…?per_page=1&page=1",
        "last": "https://app.example.com/api/…?per_page=1&page=4",
        "prev": "https://app.example.com/api/…?per_page=1&page=1",
        "next": "https://app.example.com/api/…?per_page=1&page=3",
    },
    "meta": {"current_page": 2, "from": 2, "to": 2, "per_page": 1, "last_page": 4, "total": 4},
}


def _name(shape: Shape) -> str:
    named = getattr(getattr(shape, "Meta", None), "ref_name", None)
    return str(named or shape.__name__.removesuffix("Serializer"))


def _shape(name: str, fields: Mapping[str, Any], example: Any = None) -> Shape:
    return type(name, (serializers.Serializer,), {"__doc__": "", **fields, "example": example})


def example_of(shape: Any) -> Any:
    """Give an answer as the document shows it: what the shape says itself, in `Meta.example` or as its answer."""
    return getattr(shape, "example", None) or getattr(getattr(shape, "Meta", None), "example", None)


def _listed(shape: Shape) -> list[Any] | None:
    example = example_of(shape)
    return None if example is None else [example]


def _wrapped(example: Any, more: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    return None if example is None else {"data": example, **(more or {})}


@cache
def one(shape: Shape) -> Shape:
    """Describe `{data: {…}}`."""
    return _shape(f"{_name(shape)}Answer", {"data": shape()}, _wrapped(example_of(shape)))


@cache
def many(shape: Shape) -> Shape:
    """Describe `{data: […]}`."""
    return _shape(f"{_name(shape)}List", {"data": shape(many=True)}, _wrapped(_listed(shape)))


@cache
def pages(shape: Shape) -> Shape:
    """Describe `{data: […], links, meta}`."""
    fields = {"data": shape(many=True), "links": _Links(), "meta": _Meta()}
    return _shape(f"{_name(shape)}Page", fields, _wrapped(_listed(shape), PAGE_EXAMPLE))


@dataclass(frozen=True, slots=True)
class Query:
    """One parameter of the query string."""

    name: str
    description: str
    type: Any = OpenApiTypes.STR
    enum: Sequence[str] | None = None
    default: Any = None
    required: bool = False

    def parameter(self) -> OpenApiParameter:
        return OpenApiParameter(
            name=self.name,
            type=self.type,
            required=self.required,
            description=self.description,
            enum=self.enum,
            default=self.default,
        )


PAGE_QUERY = (
    Query("page", "Page to fetch; below 1 or not a number is 1.", OpenApiTypes.INT, default=1),
    Query("per_page", "Entries per page, clamped to 1-100.", OpenApiTypes.INT, default=25),
)
LIMIT_QUERY = Query("limit", "Alias of `per_page`, which wins.", OpenApiTypes.INT)
IDEMPOTENCY_KEY = OpenApiParameter(
    name="Idempotency-Key",
    location=OpenApiParameter.HEADER,
    type={"type": "string", "minLength": 1, "maxLength": 255},
    description="The same key with the same request within 24 hours gives the first answer again.",
)
KEY_REFUSED = "The Idempotency-Key was used with another request, or its first request is still being worked on."


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """What an endpoint's decorator says: `@Documented(operation_id=…, summary=…, answer=one(Card))`."""

    operation_id: str
    summary: str
    answer: Any
    status: int = 200
    also: Mapping[int, Any] = field(default_factory=dict)
    body: Any = None
    query: Sequence[Query] = ()
    errors: Mapping[int, str] = field(default_factory=dict)
    example: Any = None
    body_example: Any = None
    idempotent: bool = False

    def __call__(self, handler: Handler) -> Handler:
        errors = self._errors()
        setattr(handler, DESCRIPTION_ATTRIBUTE, errors)
        decorate = extend_schema(
            operation_id=self.operation_id,
            summary=self.summary,
            request=self.body,
            responses=self._responses(),
            parameters=self._parameters(),
            examples=self._examples(),
        )
        decorated: Handler = decorate(handler)
        return decorated

    def _errors(self) -> dict[int, str]:
        errors = dict(self.errors)
        if self.idempotent:
            errors[409] = either(errors[409], KEY_REFUSED) if 409 in errors else KEY_REFUSED
        return errors

    def _responses(self) -> dict[int, OpenApiResponse]:
        answers = {self.status: self.answer, **self.also}
        return {status: OpenApiResponse(shape, description="Done.") for status, shape in answers.items()}

    def _parameters(self) -> list[OpenApiParameter]:
        asked = [query.parameter() for query in self.query]
        return [*asked, IDEMPOTENCY_KEY] if self.idempotent else asked

    def _examples(self) -> list[OpenApiExample]:
        examples = []
        if self.body_example is not None:
            examples.append(OpenApiExample("Request", value=self.body_example, request_only=True))
        for status, answer in {self.status: self.answer, **self.also}.items():
            value, codes = self.example or example_of(answer), [str(status)]
            if value is not None:
                examples.append(OpenApiExample("Answer", value=value, response_only=True, status_codes=codes))
        return examples
