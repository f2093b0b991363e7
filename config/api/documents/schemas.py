"""Describes JSON schemas in words, for tables, and renders the documents' prose as HTML."""

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


def inline(text: str) -> SafeString:
    """Escape a text, and mark the text between backticks as code."""
    parts = " ".join(text.split()).split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if number % 2 else part,) for number, part in enumerate(parts))
    )


def paragraphs(text: str) -> SafeString:
    """Return a text's paragraphs as HTML."""
    return format_html_join("", "<p>{}</p>", ((inline(part),) for part in text.strip().split("\n\n")))


def verbatim(text: str) -> SafeString:
    """Escape code for the inside of an element. Quotes are harmless there and stay, as there are thousands of them."""
    return SafeString(html.escape(text, quote=False))


Schema = Mapping[str, Any]
MAX_DEPTH = 4
LENGTHS = (("minLength", "maxLength", "character"), ("minItems", "maxItems", "entry"), ("minimum", "maximum", ""))


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field with its dotted name. If the field holds an object that is described separately, `object` names it."""

    name: str
    type: str
    object: str
    is_required: bool
    notes: SafeString
    place: str = ""


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of a document by name."""

    components: Mapping[str, Schema]

    def resolved(self, schema: Schema) -> Schema:
        """Follow a reference. Keywords beside the reference override those of its target."""
        while "$ref" in schema or len(schema.get("allOf", ())) == 1:
            beside = {name: part for name, part in schema.items() if name not in ("$ref", "allOf")}
            target = self.components[name_in(schema["$ref"])] if "$ref" in schema else schema["allOf"][0]
            schema = {**target, **beside}
        return schema

    def object_in(self, schema: Schema) -> str:
        """Return the name of the object that a field holds: alone, in a list, or beside null."""
        for part in (schema, schema.get("items", {}), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            if "$ref" in part and self.components[name_in(part["$ref"])].get("properties"):
                return name_in(part["$ref"])
        return ""

    def type_name(self, schema: Schema) -> str:
        """Return the type of a value in words."""
        name = self.object_in(schema) if "$ref" in schema else ""
        whole = self.resolved(schema)
        if name:
            return name
        if "oneOf" in whole:
            return " or ".join(dict.fromkeys(self.type_name(part) for part in whole["oneOf"]))
        if "const" in whole:
            return f"always {whole['const']}"
        if "enum" in whole:
            return "one of " + ", ".join("null" if value is None else str(value) for value in whole["enum"])
        return self._plain_words(whole)

    def _plain_words(self, schema: Schema) -> str:
        kinds = schema.get("type", "anything")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return " or ".join(self._kind(kind, schema) for kind in kinds)

    def _kind(self, kind: str, schema: Schema) -> str:
        if kind == "array":
            return f"list of {self.type_name(schema.get('items', {}))}"
        shape = schema.get("format") if kind == "string" else None
        return f"{kind} ({shape})" if shape else kind

    def rows(self, schema: Schema, *, prefix: str = "", into: bool = False, depth: int = 0) -> Iterator[FieldRow]:
        """Yield the fields of an object; with `into`, also the fields of its inner objects, by dotted name."""
        whole = self.resolved(schema)
        needed = whole.get("required", ())
        for name, part in whole.get("properties", {}).items():
            inner = self._object_within(part)
            expands = depth < MAX_DEPTH and bool(inner) and (into or not self.object_in(part))
            yield FieldRow(
                name=f"{prefix}{name}",
                type=self.type_name(part),
                object="" if expands else self.object_in(part),
                is_required=name in needed,
                notes=self.notes(part),
            )
            if expands:
                yield from self.rows(inner, prefix=f"{prefix}{name}.", into=into, depth=depth + 1)

    def _object_within(self, schema: Schema) -> Schema:
        """Return the object that a field holds, alone or beside null."""
        whole = self.resolved(schema)
        candidates = [whole, *(self.resolved(part) for part in whole.get("oneOf", ()))]
        return next((one for one in candidates if one.get("properties")), {})

    def notes(self, schema: Schema) -> SafeString:
        """Return what a value means and which limits it has."""
        whole = self.resolved(schema)
        said = [str(whole["description"])] if whole.get("description") else []
        said += [f"{text}." for text in limits_of(whole)]
        return inline(" ".join(said))


def name_in(reference: str) -> str:
    return reference.rpartition("/")[2]


def limits_of(schema: Schema) -> Iterator[str]:
    """Yield the limits of a schema beyond its type."""
    for least, most, unit in LENGTHS:
        text = between(schema.get(least), schema.get(most))
        if text:
            yield f"{text} {plural(unit, schema.get(most) or schema.get(least))}".strip()
    if schema.get("uniqueItems"):
        yield "No repetitions"
    if schema.get("default") is not None:
        yield f"Default: `{json.dumps(schema['default'])}`"


def between(least: int | None, most: int | None) -> str:
    """Return a range in words. A minimum of 1 alone is not mentioned."""
    if most is None:
        return f"At least {least}" if least and least > 1 else ""
    return f"{least} to {most:,}" if least else f"At most {most:,}"


def plural(unit: str, number: object) -> str:
    if not unit or number == 1:
        return unit
    return "entries" if unit == "entry" else f"{unit}s"
