"""The `operation` decorator, and how the OpenAPI documents describe what it declares.

It says how an action is documented, what its body may be, and whether it is done once per key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from typing import Any, TypeVar, cast

from django.http import HttpResponse
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_parameter_type, is_list_serializer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import Direction, OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.documents.answers import join_descriptions
from config.api.fields import AnyField
from config.api.filters import FilterSet
from config.api.idempotency import Idempotency, Principal
from config.api.parsers import MULTIPART, UploadRule
from config.api.responses import CONTENT_TYPE
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import LONGEST_NAME, MOST_NAMES, MetadataField

AnySerializer = type[serializers.Serializer[object]]
Handler = TypeVar("Handler", bound=Callable[..., HttpResponse | Response])
IDEMPOTENCY_KEY = OpenApiParameter(
    name="Idempotency-Key",
    location=OpenApiParameter.HEADER,
    type={"type": "string", "minLength": 1, "maxLength": 255},
    description="The same key with the same request gives the first answer again, for 24 hours.",
)
KEY_REFUSED = "The Idempotency-Key was used with another request, or its first request is still being worked on."
# The second of four pages, so that every link leads somewhere. A document puts the operation's path in place of `PATH`.
PAGE_EXAMPLE = {
    "links": {
        "first": "https://app.example.com/PATH?per_page=1&page=1",
        "last": "https://app.example.com/PATH?per_page=1&page=4",
        "prev": "https://app.example.com/PATH?per_page=1&page=1",
        "next": "https://app.example.com/PATH?per_page=1&page=3",
    },
    "meta": {"current_page": 2, "from": 2, "to": 2, "per_page": 1, "last_page": 4, "total": 4},
}


class PageLinksSerializer(serializers.Serializer[object]):
    first = serializers.URLField()
    last = serializers.URLField()
    prev = serializers.URLField(allow_null=True)
    next = serializers.URLField(allow_null=True)


class PageMetaSerializer(serializers.Serializer[object]):
    current_page = serializers.IntegerField()
    per_page = serializers.IntegerField()
    last_page = serializers.IntegerField()
    total = serializers.IntegerField()

    def get_fields(self) -> dict[str, AnyField]:
        position = {name: serializers.IntegerField(allow_null=True) for name in ("from", "to")}
        return {**super().get_fields(), **position}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSpec:
    """The body of a success: its schema, and an example made from the serializer's example. A file has no example.

    `beside` names the fields next to `data` that are null in an empty list.
    """

    schema: AnySerializer | OpenApiTypes
    example: object
    is_page: bool = False
    beside: tuple[str, ...] = ()
    content_type: str = CONTENT_TYPE


def _named(serializer: AnySerializer, suffix: str, **fields: AnyField) -> AnySerializer:
    named = getattr(getattr(serializer, "Meta", None), "ref_name", None)
    name = named or serializer.__name__.removesuffix("Serializer")
    return type(f"{name}{suffix}", (serializers.Serializer,), {"__doc__": "", **fields})


@cache
def object_response(serializer: type[Serializer]) -> ResponseSpec:
    """Describe `{data: {…}}`."""
    return ResponseSpec(schema=_named(serializer, "Answer", data=serializer()), example={"data": serializer.example()})


@cache
def list_response(
    serializer: type[Serializer], meta: type[Serializer] | None = None, beside: type[Serializer] | None = None
) -> ResponseSpec:
    """Describe `{data: […]}`, and what is given of `meta` and the fields of `beside` next to it."""
    fields = beside().get_fields() if beside else {}
    more = {**({"meta": meta()} if meta else {}), **fields}
    example = {
        "data": [serializer.example()],
        **({"meta": meta.example()} if meta else {}),
        **(beside.example() if beside else {}),
    }
    schema = _named(serializer, "List", data=serializer(many=True), **more)
    return ResponseSpec(schema=schema, example=example, beside=tuple(fields))


@cache
def page_response(serializer: type[Serializer]) -> ResponseSpec:
    """Describe `{data: […], links, meta}`."""
    fields = {"data": serializer(many=True), "links": PageLinksSerializer(), "meta": PageMetaSerializer()}
    example = {"data": [serializer.example()], **PAGE_EXAMPLE}
    return ResponseSpec(schema=_named(serializer, "Page", **fields), example=example, is_page=True)


def file_response(content_type: str) -> ResponseSpec:
    """Describe a file."""
    return ResponseSpec(schema=OpenApiTypes.BINARY, example=None, content_type=content_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class operation:  # noqa: N801  # used as a decorator
    """Declares an action: `@operation(operation_id="…", summary="…", answer=one(PackSerializer))`.

    `request` is the serializer of the body. Without it, or with `body_optional`, an empty body is accepted. `also` are
    other successes by status. `errors` are further refusals by status, each with its own text. `filters` are the
    filters of a list; the view applies them with `filtered`. `query` are other query parameters. With `idempotent` a
    request that repeats its `Idempotency-Key` is answered as the first one was, and done once. `prepare` is for network
    calls: it is called with the view first, outside of any transaction. `answer_example` and `request_example` replace
    the serializers' examples. With `upload` the body is multipart/form-data with a file.
    """

    operation_id: str
    summary: str
    answer: ResponseSpec
    status: int = 200
    also: Mapping[int, ResponseSpec] = field(default_factory=dict)
    request: type[Serializer] | None = None
    body_optional: bool | None = None
    filters: type[FilterSet] | None = None
    query: tuple[OpenApiParameter, ...] = ()
    errors: Mapping[int, str] = field(default_factory=dict)
    idempotent: bool | Idempotency[Any] = False
    prepare: Callable[[Any], None] | None = None
    upload: UploadRule | None = None
    answer_example: object = None
    request_example: object = None

    def __call__(self, handler: Handler) -> Handler:
        decorate = extend_schema(
            operation_id=self.operation_id,
            summary=self.summary,
            request={MULTIPART: self.request} if self.upload else self.request,
            responses={
                (status, answer.content_type): OpenApiResponse(answer.schema, description="Done.")
                for status, answer in self.answers.items()
            },
            parameters=[*self.query, IDEMPOTENCY_KEY] if self.idempotent else [*self.query],
            examples=[*self._request_examples(), *self._answer_examples()],
        )
        declared: Any = decorate(self._once(handler))
        declared.operation = self  # read by the view and by the documents
        return cast("Handler", declared)

    @property
    def answers(self) -> dict[int, ResponseSpec]:
        """Every success by its status."""
        return {self.status: self.answer, **self.also}

    @property
    def takes_empty_body(self) -> bool:
        return self.request is None if self.body_optional is None else self.body_optional

    @property
    def own_errors(self) -> dict[int, str]:
        errors = dict(self.errors)
        if self.idempotent:
            errors[409] = join_descriptions(errors[409], KEY_REFUSED) if 409 in errors else KEY_REFUSED
        return errors

    def _once(self, handler: Handler) -> Callable[..., HttpResponse | Response]:
        if not self.idempotent:
            return handler
        store = Idempotency[Principal]() if self.idempotent is True else self.idempotent

        @wraps(handler)
        def answer_once_per_key(view: Principal, request: Request, *args: object, **kwargs: object) -> HttpResponse:
            prepare = partial(self.prepare, view) if self.prepare else None
            return store.answer_once(view, request, lambda: handler(view, request, *args, **kwargs), prepare)

        return answer_once_per_key

    def _request_examples(self) -> list[OpenApiExample]:
        if self.request is None or self.upload:
            return []
        value = self.request_example or self.request.request_example()
        return [OpenApiExample("Request", value=value, request_only=True)]

    def _answer_examples(self) -> list[OpenApiExample]:
        return [
            OpenApiExample(
                "Answer", value=self.answer_example or answer.example, response_only=True, status_codes=[str(status)]
            )
            for status, answer in self.answers.items()
            if answer.content_type == CONTENT_TYPE
        ]


def operation_of(view: object, method: str | None) -> operation | None:
    """Return the declaration of the action that answers this method."""
    name = (method or "").lower()
    # The views of the document generator know their actions by method, but have no bound handlers.
    actions = getattr(view, "action_map", None) or {}
    return getattr(getattr(view, actions.get(name, name), None), "operation", None)


JSON = dict[str, Any]
PAGE: JSON = {"name": "page", "default": 1, "description": "Page to fetch; below 1 or not a number is 1."}
PER_PAGE: JSON = {"name": "per_page", "description": "Entries per page, clamped to 1-100."}
LIMIT_PARAMETER: JSON = {"name": "limit", "description": "Alias of `per_page`, which wins."}


class OperationSchema(AutoSchema):
    """Introspection without guesses: a list is what is declared as a list, and names come from `operation`."""

    def _is_list_view(self, serializer: object = None) -> bool:
        return bool(is_list_serializer(serializer))

    def get_description(self, path: str = "", method: str = "") -> str:
        """Return nothing: docstrings are for readers of the code."""
        return ""

    def get_tags(self) -> list[str]:
        return [tag.replace("-", " ").capitalize() for tag in super().get_tags()]

    def get_extensions(self) -> JSON:
        """Pass an operation's own errors to the document, which takes them out again."""
        declared = operation_of(self.view, self.method)
        return {"x-errors": declared.own_errors if declared else {}}

    def _get_filter_parameters(self) -> list[JSON]:
        declared = operation_of(self.view, self.method)
        if declared is None:
            return []
        paging = [build_parameter_type(schema={"type": "integer"}, location="query", **each) for each in self._paging()]
        described = declared.filters.described() if declared.filters else ()
        filters = [
            build_parameter_type(name, schema, "query", description=meaning, required=is_required)
            for name, meaning, schema, is_required in described
        ]
        return [*paging, *filters]

    def _paging(self) -> tuple[JSON, ...]:
        declared = operation_of(self.view, self.method)
        if declared is None or not declared.answer.is_page:
            return ()
        view: Any = self.view
        size = {**PER_PAGE, "default": view.usual_page_size}
        return (PAGE, size, LIMIT_PARAMETER) if view.limit_alias else (PAGE, size)

    def _get_request_body(self, direction: Direction = "request") -> JSON | None:
        """Mark the body as optional only if the operation says so. Optional fields alone do not make it optional."""
        untyped: Any = super()  # the library's own methods carry no types
        body: JSON | None = untyped._get_request_body(direction)
        declared = operation_of(self.view, self.method)
        return body and body | {"required": declared is None or not declared.takes_empty_body}

    def _map_basic_serializer(self, serializer: AnyField, direction: Direction) -> JSON:
        """Describe an object by its own docstring. In an answer every field is present unless declared otherwise."""
        untyped: Any = super()
        schema: JSON = untyped._map_basic_serializer(serializer, direction)
        if not vars(type(serializer)).get("__doc__"):
            schema.pop("description", None)
        if direction == "response":
            shown = {name: part for name, part in schema.get("properties", {}).items() if not part.get("writeOnly")}
            for part in shown.values():
                part.pop("readOnly", None)
                part.pop("default", None)
            left_out = getattr(serializer, "may_be_absent", ())
            schema |= {"properties": shown, "required": [name for name in shown if name not in left_out]}
        return schema

    def _map_serializer_field(self, field: AnyField, direction: Direction, bypass_extensions: bool = False) -> JSON:
        """Add what the library does not see of a field, and remove the library's own marks."""
        if isinstance(field, TenantRelatedField) and direction == "response":
            shown = self._map_serializer_field(field.representation, direction)
            return {"oneOf": [shown, {"type": "null"}]} if field.allow_null else shown
        untyped: Any = super()
        schema: JSON = untyped._map_serializer_field(field, direction, bypass_extensions)
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, serializers.ListField) and not field.allow_empty:
            schema.setdefault("minItems", 1)
        if getattr(field, "distinct", False):
            schema["uniqueItems"] = True
        if isinstance(field, MetadataField):
            schema |= {"maxProperties": MOST_NAMES, "propertyNames": {"minLength": 1, "maxLength": LONGEST_NAME}}
            schema["type"] = "object" if direction == "response" else ["object", "null"]
        return schema
