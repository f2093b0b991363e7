"""The OpenAPI documents and the pages that show them."""

import re
from contextlib import closing
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from openapi_spec_validator import OpenAPIV31SpecValidator

from config.api.documents import building
from config.api.documents.building import DocumentedEvents, EventDescription, documented_events
from tests.api.conftest import AGENCY, WORKSPACE
from tests.api.surfaces.serializers import ThingSerializer

THINGS = f"{AGENCY}/things"


def describe_events() -> list[EventDescription]:
    tenant = {"agency_id": {"type": "integer"}}
    example = {"id": "0b7a4d9e-c0de-4000-8000-00000000abcd"}
    headers = {"X-Svc-Event": "The event's name."}
    return [EventDescription("thing.created", "A thing was created", tenant, ThingSerializer, example, headers)]


@pytest.fixture(autouse=True)
def _events(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Describe an event beside the things, for these tests alone, under URLs with documents of their own."""
    registered = {**documented_events._items, "things": DocumentedEvents("things", "agency", describe_events)}
    monkeypatch.setattr(documented_events, "_items", registered)
    settings.ROOT_URLCONF = "tests.api.surfaces.urls_with_events"


def document(anonymous: Client, surface: str) -> dict[str, Any]:
    answer = anonymous.get(f"{surface}/openapi.json")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer["Cache-Control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("surface", [AGENCY, WORKSPACE])
def test_a_document_is_valid_openapi_3_1_and_needs_no_key(anonymous: Client, surface: str) -> None:
    found = document(anonymous, surface)
    OpenAPIV31SpecValidator(found).validate()
    assert found["openapi"] == "3.1.0"
    assert found["info"]["version"] == "1.0.0"


def test_each_document_holds_its_own_paths_only(anonymous: Client) -> None:
    assert set(document(anonymous, AGENCY)["paths"]) == {THINGS, f"{THINGS}/{{thing}}", f"{AGENCY}/echo"}
    assert set(document(anonymous, WORKSPACE)["paths"]) == {f"{WORKSPACE}/things"}


def test_methods_and_answers_are_in_order(anonymous: Client) -> None:
    paths = document(anonymous, AGENCY)["paths"]
    assert list(paths[f"{AGENCY}/echo"]) == ["get", "post", "put"]
    statuses = list(paths[f"{AGENCY}/echo"]["post"]["responses"])
    assert statuses == sorted(statuses)


def test_operations_have_the_names_they_were_given(anonymous: Client) -> None:
    paths = document(anonymous, AGENCY)["paths"]
    assert paths[THINGS]["get"]["operationId"] == "listThings"
    assert paths[THINGS]["post"]["operationId"] == "createThing"
    assert paths[THINGS]["get"]["tags"] == ["Things"]


def test_both_ways_of_sending_the_key_are_described(anonymous: Client) -> None:
    found = document(anonymous, AGENCY)
    schemes = found["components"]["securitySchemes"]
    assert schemes["ApiKey"] == {"type": "apiKey", "in": "header", "name": "x-api-key"}
    assert schemes["Bearer"] == {"type": "http", "scheme": "bearer"}
    assert found["paths"][THINGS]["get"]["security"] == [{"ApiKey": []}, {"Bearer": []}]


@pytest.mark.parametrize(
    ("path", "method", "statuses"),
    [
        (THINGS, "get", {"200", "400", "401", "403", "429", "500", "503"}),
        (THINGS, "post", {"201", "400", "401", "403", "409", "413", "415", "422", "429", "500", "503"}),
        (f"{THINGS}/{{thing}}", "get", {"200", "401", "403", "404", "429", "500", "503"}),
        (f"{THINGS}/{{thing}}", "patch", {"200", "400", "401", "403", "404", "413", "415", "422", "429", "500", "503"}),
    ],
)
def test_every_operation_lists_its_errors(anonymous: Client, path: str, method: str, statuses: set[str]) -> None:
    assert set(document(anonymous, AGENCY)["paths"][path][method]["responses"]) == statuses


def test_a_503_names_the_switch_only_where_there_is_one(anonymous: Client) -> None:
    agency, workspace = (
        document(anonymous, surface)["components"]["responses"]["Unavailable"] for surface in (AGENCY, WORKSPACE)
    )
    assert "currently disabled" in agency["description"]
    assert "disabled" not in workspace["description"]
    assert agency["headers"] == workspace["headers"] == {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}


def test_an_operation_may_describe_an_error_in_its_own_text(anonymous: Client) -> None:
    paths = document(anonymous, AGENCY)["paths"]
    assert paths[f"{AGENCY}/echo"]["post"]["responses"]["409"]["description"] == "Never, in truth."
    assert "x-errors" not in str(paths)


def test_parameters_bodies_and_examples_are_described(anonymous: Client) -> None:
    found = document(anonymous, AGENCY)
    listing, creating = (found["paths"][THINGS][method] for method in ("get", "post"))
    assert [parameter["name"] for parameter in listing["parameters"]] == [
        "page",
        "per_page",
        "search",
        "plan",
        "status",
        "after",
    ]
    assert [parameter["name"] for parameter in creating["parameters"]] == ["Idempotency-Key"]
    (thing,) = found["paths"][f"{THINGS}/{{thing}}"]["get"]["parameters"]
    assert thing["schema"] == {"type": "string", "format": "uuid"}
    body = found["components"]["schemas"]["ThingWriteRequest"]
    assert body["required"] == ["name"]
    assert body["properties"]["name"] == {"type": "string", "minLength": 1, "maxLength": 20}
    assert body["properties"]["plan"] == {"type": ["string", "null"], "format": "uuid"}
    content = creating["requestBody"]["content"]["application/json"]
    assert content["examples"]["Request"]["value"] == {"name": "Bakery"}
    answer = creating["responses"]["201"]["content"]["application/json"]
    assert answer["examples"]["Answer"]["value"] == {"data": {"number": 1}}


def test_lists_and_pages_are_described_as_they_are(anonymous: Client) -> None:
    schemas = document(anonymous, AGENCY)["components"]["schemas"]
    assert set(schemas["ThingPage"]["required"]) == {"data", "links", "meta"}
    assert set(schemas["PageMeta"]["properties"]) >= {"from", "to", "total", "last_page"}
    assert schemas["ThingList"]["required"] == ["data"]
    assert schemas["ThingAnswer"]["properties"]["data"] == {"$ref": "#/components/schemas/Thing"}


def test_events_are_described_as_webhooks(anonymous: Client) -> None:
    webhook = document(anonymous, AGENCY)["webhooks"]["thing.created"]["post"]
    assert webhook["operationId"] == "onThingCreated"
    assert webhook["requestBody"]["content"]["application/json"]["example"] == describe_events()[0].example
    assert "thing.created" not in document(anonymous, WORKSPACE)["webhooks"]


@pytest.mark.parametrize(("shown", "surface"), [("agency", AGENCY), ("workspace", WORKSPACE)])
def test_a_page_shows_the_document_without_scripts_or_files_of_others(
    anonymous: Client, shown: str, surface: str
) -> None:
    answer = anonymous.get(f"/api/docs/{shown}")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert f'data-document="{surface}/openapi.json"' in html
    assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", html)
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|<style|\sstyle=", html)


@pytest.mark.django_db  # closing a served file looks after the database connections
def test_everything_a_page_loads_is_served_by_ourselves(anonymous: Client) -> None:
    html = anonymous.get("/api/docs/agency").content.decode()
    addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', html)
    assert len(addresses) == 7
    for address in addresses:
        with closing(anonymous.get(address)) as file:
            assert file.status_code == 200


@pytest.mark.parametrize("path", ["/api/docs/agency", f"{AGENCY}/openapi.json"])
def test_documents_are_only_read(anonymous: Client, path: str) -> None:
    assert anonymous.head(path).status_code == 200
    answer = anonymous.post(path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert set(answer.json()) == {"message"}


@pytest.mark.parametrize("document", [building.AGENCY, building.WORKSPACE], ids=lambda document: document.name)
def test_a_document_is_built_without_a_warning(document: building.Document, settings: Any) -> None:
    settings.ROOT_URLCONF = "config.urls"
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        building.build(document)
    warned = [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache]
    GENERATOR_STATS.reset()
    assert warned == []
