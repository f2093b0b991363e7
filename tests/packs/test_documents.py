"""The packs in the agency's OpenAPI document."""

from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import BOOKING
from tests.tenants import AGENCY_BASE, WORKSPACE_BASE, Api, Tenant

PATHS = {
    "/packs": ["get", "post"],
    "/packs/order": ["put"],
    "/packs/library": ["get"],
    "/packs/visibility": ["get", "put"],
    "/packs/import/sources": ["get"],
    "/packs/import/preview": ["get"],
    "/packs/{pack}": ["get", "patch", "delete"],
    "/packs/{pack}/entries": ["post"],
    "/packs/{pack}/entries/order": ["put"],
    "/packs/{pack}/entries/{entry}": ["patch", "delete"],
}


def test_every_endpoint_of_packs_is_documented(anonymous: Api) -> None:
    document = anonymous.get("/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    packs = {path: list(methods) for path, methods in document["paths"].items() if "/packs" in path}
    assert packs == {f"{AGENCY_BASE}{path}": methods for path, methods in PATHS.items()}


def test_automations_are_documented(nobody_of_a_workspace: Api) -> None:
    document = nobody_of_a_workspace.get("/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    assert f"{WORKSPACE_BASE}/automations/{{automation}}" in document["paths"]


def test_answers_have_the_documented_fields_in_their_order(
    a: Tenant, packs: PackClient, copier: Api, anonymous: Api
) -> None:
    schemas: dict[str, Any] = anonymous.get("/openapi.json").json()["components"]["schemas"]
    pack = packs.with_entries(BOOKING)
    assert list(packs.read(pack)) == list(schemas["Pack"]["properties"])
    assert list(packs.read(pack)["entries"][0]) == list(schemas["PackEntry"]["properties"])
    (item, *_) = a.api.get("/packs/library").json()["data"]
    assert list(item) == list(schemas["LibraryItem"]["properties"])
    automation = an_automation(a.workspace)
    (source,) = copier.get("/packs/import/sources").json()["data"]
    assert list(source) == list(schemas["ImportSource"]["properties"])
    query = f"workspace={a.workspace.uuid}&automation={automation.uuid}"
    preview = copier.get(f"/packs/import/preview?{query}").json()["data"]
    assert list(preview) == list(schemas["ImportPreview"]["properties"])
