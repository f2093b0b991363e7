"""How operations are described in the OpenAPI documents: from the declarations of their actions alone."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_parameter_type, is_list_serializer

from config.api.operations import operation_of

JSON = dict[str, Any]
PAGE_PARAMETERS: tuple[JSON, ...] = (
    {"name": "page", "default": 1, "description": "Page to fetch; below 1 or not a number is 1."},
    {"name": "per_page", "default": 25, "description": "Entries per page, clamped to 1-100."},
)
LIMIT_PARAMETER: JSON = {"name": "limit", "description": "Alias of `per_page`, which wins."}


class OperationSchema(AutoSchema):
    """Introspection without guesses: a list is what is declared as one; names come from `operation`."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        return bool(is_list_serializer(serializer))

    def get_tags(self) -> list[str]:
        return [word.replace("-", " ").capitalize() for word in super().get_tags()]

    def get_extensions(self) -> JSON:
        """Carry an operation's own errors to the document, which takes them out again."""
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
        return (*PAGE_PARAMETERS, LIMIT_PARAMETER) if self.view.limit_alias else PAGE_PARAMETERS

    def _map_basic_serializer(self, serializer: Any, direction: str) -> JSON:
        """In an answer every field is always there, and none needs a word on who may write it."""
        schema: JSON = super()._map_basic_serializer(serializer, direction)
        if direction == "response":
            shown = {name: part for name, part in schema.get("properties", {}).items() if not part.get("writeOnly")}
            for part in shown.values():
                part.pop("readOnly", None)
            schema |= {"properties": shown, "required": list(shown)}
        return schema
