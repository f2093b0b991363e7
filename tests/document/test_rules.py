"""Both documents keep the rules that linters of OpenAPI documents recommend, all but one.

An id and a word stand in the same place of some paths, as the specification has them.
"""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

from config.api.documents.building import AGENCY, WORKSPACE, Document, build
from tests.document.schemas import FORMATS, JSON, matching, mistakes_in, resolved, strict

each_document = pytest.mark.parametrize("document", [AGENCY, WORKSPACE], ids=lambda document: document.name)
NAME_IN_PATH = re.compile(r"{(\w+)}")
REFERENCE = re.compile(r"#/components/(\w+)/([^/]+)")
# By RFC 3986, which has no character beyond ASCII.
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
# What is sent to us may have any offset.
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
STRICT_FORMATS = FormatChecker(formats=())
STRICT_FORMATS.checkers = {**FORMATS.checkers}
for _name, _pattern in {"uri": URI, "date-time": MOMENT}.items():
    STRICT_FORMATS.checks(_name)(matching(_pattern))
# Where a word stands in the place of another path's id: the deliveries of all webhooks, and the series of classes.
# An id is a UUID, which no word is, and the routes with the words come first.
DELIVERIES = {
    ("webhooks/deliveries/{delivery}", f"webhooks/{{webhook}}/{word}")
    for word in ("deliveries", "replay", "rotate-secret", "test")
}
SERIES = {
    ("classes/series/{series}", f"classes/{{session}}/{word}") for word in ("cancel", "participants", "waiting-list")
}
AMBIGUOUS = {AGENCY.name: DELIVERIES, WORKSPACE.name: DELIVERIES | SERIES}


@cache
def built(document: Document) -> JSON:
    return build(document)


def operations_of(whole: JSON) -> Iterator[tuple[str, str, JSON]]:
    for path, methods in {**whole["paths"], **whole.get("webhooks", {})}.items():
        for method, operation in methods.items():
            yield path, method, operation


def contents_in(node: Any, at: str = "#") -> Iterator[tuple[str, JSON]]:
    """Give whatever has a schema with examples beside it, and where."""
    if isinstance(node, dict):
        if "schema" in node and ("example" in node or "examples" in node):
            yield at, node
        for name, part in node.items():
            if name not in ("example", "examples"):
                yield from contents_in(part, f"{at}/{name}")
    elif isinstance(node, list):
        for number, part in enumerate(node):
            yield from contents_in(part, f"{at}/{number}")


def references_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, part in node.items():
            if name == "$ref":
                yield str(part)
            yield from references_in(part)
    elif isinstance(node, list):
        for part in node:
            yield from references_in(part)


@each_document
def test_it_is_a_valid_document(document: Document) -> None:
    OpenAPIV31SpecValidator(built(document)).validate()


@each_document
def test_each_example_fits_its_schema(document: Document) -> None:
    whole = built(document)
    mistakes, seen = [], 0
    for at, content in contents_in(whole):
        schema = strict(content["schema"], whole)
        validator = Draft202012Validator(schema, format_checker=STRICT_FORMATS)
        values = [one["value"] for one in content.get("examples", {}).values()]
        for value in [*values, *([content["example"]] if "example" in content else [])]:
            seen += 1
            mistakes += [f"{at}: {mistake}" for mistake in mistakes_in(value, validator)]
    assert seen > 100
    assert mistakes == []


@each_document
def test_each_component_is_used(document: Document) -> None:
    whole = built(document)
    used = {found.groups() for one in references_in(whole) if (found := REFERENCE.fullmatch(one))}
    named = {(kind, name) for kind, parts in whole["components"].items() for name in parts}
    asked = [one for _, _, operation in operations_of(whole) for one in operation["security"]]
    schemes = {("securitySchemes", name) for one in asked for name in one}
    assert named - used - schemes == set()


@each_document
def test_it_names_its_licence(document: Document) -> None:
    licence = built(document)["info"]["license"]
    assert licence["name"]
    assert bool(licence.get("identifier")) != bool(licence.get("url"))


@each_document
def test_each_operation_is_named_once_and_says_what_may_come_back(document: Document) -> None:
    whole = built(document)
    names = [operation["operationId"] for _, _, operation in operations_of(whole)]
    assert len(names) == len(set(names))
    for path, method, operation in operations_of(whole):
        where = f"{method} {path}"
        assert re.fullmatch(r"[A-Za-z0-9]+", operation["operationId"]), where
        assert operation["summary"], where
        assert len(operation["tags"]) == 1, where
        assert any(status.startswith("2") for status in operation["responses"]), where
        assert all(resolved(answer, whole)["description"] for answer in operation["responses"].values()), where
        if path in whole["paths"]:
            assert any(status.startswith("4") for status in operation["responses"]), where
            given = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
            assert given == set(NAME_IN_PATH.findall(path)), where


@each_document
def test_paths_are_told_apart_but_for_the_known_ones(document: Document) -> None:
    paths = [path.split("/") for path in sorted(built(document)["paths"])]
    assert len({NAME_IN_PATH.sub("{}", "/".join(path)) for path in paths}) == len(paths)
    pairs = [pair for pair in itertools.combinations(paths, 2) if _are_ambiguous(*pair)]
    shown = [tuple("/".join(path).removeprefix(f"{document.prefix}/") for path in pair) for pair in pairs]
    assert sorted(shown) == sorted(AMBIGUOUS[document.name])


def _are_ambiguous(one: list[str], other: list[str]) -> bool:
    """Say whether an address fits both, and neither is the more exact one at every place."""
    if len(one) != len(other):
        return False
    places = [(a[:1] == "{", b[:1] == "{") for a, b in zip(one, other, strict=True) if a != b]
    fits = all(a[:1] == "{" or b[:1] == "{" or a == b for a, b in zip(one, other, strict=True))
    return fits and (True, False) in places and (False, True) in places
