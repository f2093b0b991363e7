"""Placeholders in sample bodies. You fill in ids and addresses, because those of the example belong to nobody."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from config.api.documents.reference.schemas import Schema, Schemas

NAME_IN_PATH = re.compile(r"{(\w+)}")
LEFT_OUT = object()
FORMS = ("object", "array", "string")
ADDRESS = "url"  # the field with an address that the product calls


def placeholder(name: str) -> str:
    """Return the placeholder of an id by its field or parameter: `CATEGORY_ID` for `category` and `category_id`."""
    return f"{name.removesuffix('_id').upper()}_ID"


def with_placeholders(body: Any, schema: Schema, schemas: Schemas, *, path: str) -> Any:
    """Return a body with placeholders for ids. Optional parts are left out if they hold an id or nothing."""
    taken = {placeholder(name) for name in NAME_IN_PATH.findall(path)}
    filled = _Filling(schemas, path, taken).filled(body, schema, name="")
    return body if filled is LEFT_OUT else filled


class _Filling:
    def __init__(self, schemas: Schemas, path: str, taken: Collection[str]) -> None:
        self.schemas, self.path, self.taken = schemas, path, taken

    def filled(self, value: Any, schema: Schema, *, name: str, is_needed: bool = True) -> Any:
        """Return a value with its placeholders, or `LEFT_OUT`."""
        whole = self._form(schema)
        if isinstance(value, dict) and "properties" in whole:
            return self._object(value, whole)
        if isinstance(value, list) and self._form(whole.get("items", {})).get("format") == "uuid":
            return [self._id(name)] if is_needed and value else LEFT_OUT
        if whole.get("format") == "uuid":
            return self._id(name) if is_needed else LEFT_OUT
        if name == ADDRESS:
            return "YOUR_URL"
        return value if is_needed or value is not None else LEFT_OUT

    def _object(self, value: Mapping[str, Any], schema: Schema) -> dict[str, Any] | object:
        needed, properties = schema.get("required", ()), schema["properties"]
        parts = {
            name: self.filled(part, properties.get(name, {}), name=name, is_needed=name in needed)
            for name, part in value.items()
        }
        kept = {name: part for name, part in parts.items() if part is not LEFT_OUT}
        return kept or LEFT_OUT

    def _id(self, name: str) -> str:
        """Return the placeholder of a field's id.

        In a list it is named after the list's entries. `OTHER_` distinguishes it from an id in the path.
        """
        own = placeholder(_listed_in(self.path) if name == "order" else _singular(name))
        return f"OTHER_{own}" if own in self.taken else own

    def _form(self, schema: Schema) -> Schema:
        """Return the schema of a value that is not null."""
        whole = self.schemas.resolved(schema)
        parts = [self.schemas.resolved(part) for part in whole.get("oneOf", whole.get("anyOf", ()))]
        return next((part for part in parts if part.get("type") in FORMS), whole)


def _singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def _listed_in(path: str) -> str:
    return _singular(path.rsplit("/", 2)[-2])
