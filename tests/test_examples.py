"""Every operation of both documents has examples of its request and its answers, and they match the schemas."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.test import Client

DOCUMENTS = ["/api/agency/v1/openapi.json", "/api/v1/openapi.json"]


def contents(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the name and content of every request body and every successful answer."""
    for methods in document["paths"].values():
        for operation in methods.values():
            name = operation["operationId"]
            sent = operation.get("requestBody", {}).get("content", {})
            if "multipart/form-data" not in sent and sent:  # a file has no example in JSON
                yield f"{name} sends", sent["application/json"]
            for status, answer in operation["responses"].items():
                if status.startswith("2") and "application/pdf" not in answer["content"]:  # the same
                    yield f"{name} answers {status}", answer["content"]["application/json"]


def mistakes(document: dict[str, Any], content: dict[str, Any]) -> list[str]:
    examples = [example["value"] for example in content.get("examples", {}).values()]
    if not examples:
        return ["has no example"]
    schema = {"components": document["components"], **content["schema"]}
    judge = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return [error.message for example in examples for error in judge.iter_errors(example)]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_body_has_an_example_that_its_schema_takes(client: Client, path: str) -> None:
    document = client.get(path).json()
    found = {name: mistakes(document, content) for name, content in contents(document)}
    assert len(found) >= 4
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
