"""Describes operations in the OpenAPI documents, only from the declarations of their actions."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_parameter_type, is_list_serializer
from drf_spectacular.utils import Direction
from rest_framework import serializers

from config.api.fields.metadata import LONGEST_NAME, MOST_NAMES, MetadataField
from config.api.operations import operation_of
from config.api.serializers import RelatedField

JSON = dict[str, Any]
PAGE: JSON = {"name": "page", "default": 1, "description": "Page to fetch; below 1 or not a number is 1."}
PER_PAGE: JSON = {"name": "per_page", "description": "Entries per page, clamped to 1-100."}
LIMIT_PARAMETER: JSON = {"name": "limit", "description": "Alias of `per_page`, which wins."}


class OperationSchema(AutoSchema):
    """Introspection without guesses: a list is what is declared as a list, and names come from `operation`."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        return bool(is_list_serializer(serializer))

    def get_description(self) -> str:  # type: ignore[override]  # DRF's own takes path and method, spectacular's none
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
            build_parameter_type(name, schema, "query", description=meaning) for name, meaning, schema in described
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

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> JSON:
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

    def _map_serializer_field(self, field: Any, direction: Direction, bypass_extensions: bool = False) -> Any:
        """Add what the library does not see of a field, and remove the library's own marks."""
        if isinstance(field, RelatedField) and direction == "response":
            shown = self._map_serializer_field(field.representation, direction)
            return {"oneOf": [shown, {"type": "null"}]} if field.allow_null else shown
        untyped: Any = super()
        schema: Any = untyped._map_serializer_field(field, direction, bypass_extensions)
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, serializers.ListField) and not field.allow_empty:
            schema.setdefault("minItems", 1)
        if getattr(field, "distinct", False):
            schema["uniqueItems"] = True
        if isinstance(field, MetadataField):
            schema |= {"maxProperties": MOST_NAMES, "propertyNames": {"minLength": 1, "maxLength": LONGEST_NAME}}
            schema["type"] = "object" if direction == "response" else ["object", "null"]
        return schema
