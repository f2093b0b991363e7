"""Every time field of the documents refuses times near the ends of the calendar, and nothing breaks."""

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import orjson
import pytest
from django.utils.http import urlencode

from config.api.documents import building
from config.api.documents.building import Document
from tests import furnished
from tests.database.emptying import forget_counters
from tests.document.recording import documented_path
from tests.routes import AGENCY, ROUTES, address, api_of, body_of, ids_of
from tests.tenants import Tenant, message

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PUBLISHED = "config.urls"
BEYOND_UTC = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
TIMES = [*BEYOND_UTC, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9Z"]


@cache
def read(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(building.written(document, PUBLISHED))
    return found


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for route, methods in ROUTES.items():
        written = read(building.AGENCY if route.startswith(AGENCY) else building.WORKSPACE)
        for method in methods:
            operation = written["paths"][documented_path(route)].get(method.lower())
            if operation:
                yield route, method, {**operation, "components": written["components"]}


def resolved(schema: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return operation["components"]["schemas"][name] if name else schema


def is_time(schema: Mapping[str, Any]) -> bool:
    return schema.get("format") == "date-time" or any(is_time(one) for one in schema.get("anyOf", ()))


def query_times() -> list[tuple[str, str]]:
    return [
        (route, parameter["name"])
        for route, _, operation in operations()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query" and is_time(parameter["schema"])
    ]


def body_times() -> list[tuple[str, str, str]]:
    found = []
    for route, method, operation in operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        fields = resolved(content.get("schema", {}), operation).get("properties", {})
        found += [(route, method, name) for name, schema in fields.items() if is_time(schema)]
    return found


def test_a_filter_refuses_a_time_at_the_end_of_the_calendar(a: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    ids = ids_of(a)
    found = query_times()
    assert len(found) >= 8
    for route, name in found:
        path, _, query = address(route, ids).partition("?")
        forget_counters()
        for time in BEYOND_UTC:
            answer = api_of(route, a).get(f"{path}?{urlencode({**dict(parse_qsl(query)), name: time})}")

            assert (route, time, answer.status_code) == (route, time, 422)
            assert message(answer) == f"The {name} parameter is out of range."
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_body_refuses_a_time_at_the_end_of_the_calendar(a: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    ids = ids_of(a)
    found = body_times()
    assert {name for _, _, name in found} >= {"since", "starts_at", "ends_at", "scheduled_at"}
    for route, method, name in found:
        body = body_of(ROUTES[route][method], a)
        forget_counters()
        for time in TIMES:
            answer = api_of(route, a).call(method, address(route, ids), {**body, name: time})

            assert (route, name, time, answer.status_code) == (route, name, time, 422)
            assert name in answer.json()["errors"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("name", ["created_after", "created_before"])
def test_a_segment_refuses_a_time_at_the_end_of_the_calendar(
    a: Tenant, time: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = a.workspace_api.post("/segments", {"name": "Old", "filter": {name: time}})

    assert (answer.status_code, answer.json()["errors"]) == (422, {f"filter.{name}": ["The time is out of range."]})
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
