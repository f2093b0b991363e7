"""Makes a schema of a document into a strict validator: references inlined, unknown fields refused."""

import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

JSON = dict[str, Any]
OPAQUE = frozenset({"enum", "const", "default", "example", "examples"})
FORMATS = FormatChecker(formats=())
# Ids in lower case; times in UTC with six digits of a second or none: what the documents promise.
PATTERNS = {
    "uuid": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z"),
    "uri": re.compile(r"https?://[^\s]+"),
    "email": re.compile(r"[^\s]+@[^\s]+"),
}
LONGEST_SHOWN = 300


def matching(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    """Give what says of a value whether it has a format; what is no text has every one."""
    return lambda value: not isinstance(value, str) or pattern.fullmatch(value) is not None


for _name, _pattern in PATTERNS.items():
    FORMATS.checks(_name)(matching(_pattern))


def resolved(node: JSON, document: JSON) -> JSON:
    """Follow `$ref` to what it names; what stands beside it wins."""
    while "$ref" in node:
        steps = node["$ref"].removeprefix("#/").split("/")
        named: JSON = reduce(lambda found, step: found[step], steps, document)
        node = {**named, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


def strict(schema: Any, document: JSON) -> Any:
    """Give the schema without references, every object that names its properties closed to others."""
    if isinstance(schema, list):
        return [strict(part, document) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = resolved(schema, document)
    found = {name: value if name in OPAQUE else _part(name, value, document) for name, value in schema.items()}
    if "allOf" in found:
        raise NotImplementedError("Closing the parts of an allOf would refuse what the other parts name.")
    if "properties" in found:
        found["additionalProperties"] = False
    return found


def _part(name: str, value: Any, document: JSON) -> Any:
    if name == "properties":
        return {field: strict(schema, document) for field, schema in value.items()}
    return strict(value, document)


def compiled(schema: JSON, document: JSON) -> Draft202012Validator:
    return Draft202012Validator(strict(schema, document), format_checker=FORMATS)


def mistakes_in(value: Any, validator: Draft202012Validator) -> Iterator[str]:
    """Say where a value departs from its schema, and show the part that does."""
    for error in validator.iter_errors(value):
        part = repr(error.instance)
        shown = part if len(part) <= LONGEST_SHOWN else f"{part[:LONGEST_SHOWN]}…"
        yield f"{error.json_path}: {error.message[:LONGEST_SHOWN]}\n    in {shown}"
