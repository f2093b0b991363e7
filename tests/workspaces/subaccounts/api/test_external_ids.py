"""`external_id` and `metadata`: what the agency itself knows of a sub-account."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from tests.database.traces import traces
from tests.factories import WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace

EACH = "Each entry of the metadata field"
TAKEN = {"external_id": ["Another sub-account has this external id."]}
NOTES = {"region": "north", "Kundennummer": "4711", "note": "two\nlines", "empty": ""}


def create(tenant: Tenant, **fields: Any) -> Any:
    return tenant.api.post("/workspaces", a_new_customer(**fields))


def test_both_are_on_every_card(a: Tenant) -> None:
    created = create(a, external_id=" crm-4711 ", metadata=NOTES).json()["data"]
    assert (created["external_id"], created["metadata"]) == ("crm-4711", NOTES)
    path = f"/workspaces/{created['uuid']}"
    (row,) = a.api.get("/workspaces").json()["data"]
    cards = [row, a.api.get(path).json()["data"], a.api.post(f"{path}/suspend").json()["data"]]
    assert [(card["external_id"], card["metadata"]) for card in cards] == [("crm-4711", NOTES)] * 3


@pytest.mark.parametrize("left_out", [{}, {"external_id": None, "metadata": None}, {"external_id": "", "metadata": {}}])
def test_both_may_be_left_out(a: Tenant, left_out: dict[str, Any]) -> None:
    for _ in range(2):
        created = create(a, **left_out)
        assert created.status_code == 201
        assert (created.json()["data"]["external_id"], created.json()["data"]["metadata"]) == (None, {})


def test_events_carry_neither(a: Tenant) -> None:
    create(a, external_id="crm-4711", metadata=NOTES)
    assert list(a.events[0]["data"]["workspace"]) == ["uuid", "name", "status", "plan"]


def test_a_change_sets_replaces_and_clears_them(a: Tenant) -> None:
    path = a.path
    a.api.patch(path, {"external_id": "one", "metadata": {"a": "1", "b": "2"}})
    assert a.api.patch(path, {"metadata": {"c": "3"}}).json()["data"]["metadata"] == {"c": "3"}
    assert a.api.get(path).json()["data"]["external_id"] == "one"
    cleared = a.api.patch(path, {"external_id": None, "metadata": None}).json()["data"]
    assert (cleared["external_id"], cleared["metadata"]) == (None, {})


def test_an_external_id_is_one_sub_account_s_alone_within_the_agency(a: Tenant, b: Tenant) -> None:
    create(a, external_id="crm-1")
    path = a.path
    before = traces()
    for refused in (create(a, external_id="crm-1"), a.api.patch(path, {"name": "New", "external_id": "crm-1"})):
        assert (refused.status_code, refused.json()["errors"]) == (422, TAKEN)
    assert traces() == before
    assert create(a, external_id="CRM-1").status_code == 201
    assert create(b, external_id="crm-1").status_code == 201


def test_its_own_external_id_again_changes_nothing(a: Tenant) -> None:
    path = a.path
    a.api.patch(path, {"external_id": "crm-1", "metadata": NOTES})
    before = traces()
    assert a.api.patch(path, {"external_id": "crm-1", "metadata": NOTES}).status_code == 200
    assert traces() == before


@pytest.mark.django_db(transaction=True)
def test_of_many_created_at_once_with_one_external_id_one_is_made(a: Tenant) -> None:
    answers = at_once(lambda _: create(a, external_id="crm-1").status_code, times=4)
    assert sorted(answers) == [201, 422, 422, 422]
    assert Workspace.objects.of(a.agency).count() == 1


def test_the_database_itself_keeps_them_apart_and_metadata_an_object(a: Tenant) -> None:
    for _ in range(2):
        WorkspaceFactory.create(agency=a.agency)
    refused: list[dict[str, Any]] = [{"external_id": "x"}, {"external_id": ""}, {"metadata": []}, {"owner_key": ""}]
    for values in refused:
        with pytest.raises(IntegrityError), transaction.atomic():
            Workspace.objects.update(**values)


@pytest.mark.parametrize(
    ("fields", "where", "sentence"),
    [
        ({"external_id": "x" * 201}, "external_id", "The external id field may have at most 200 characters."),
        ({"external_id": 4711}, "external_id", "The external id field must be a string."),
        ({"external_id": "a\nb"}, "external_id", "The external id field must not contain control characters."),
        ({"metadata": []}, "metadata", "The metadata field must be an object."),
        ({"metadata": "x"}, "metadata", "The metadata field must be an object."),
        ({"metadata": {"n": 1}}, "metadata.n", f"{EACH} must be a string."),
        ({"metadata": {"n": None}}, "metadata.n", None),
        ({"metadata": {"n": {"deep": "x"}}}, "metadata.n", f"{EACH} must be a string."),
        ({"metadata": {"n": "x" * 501}}, "metadata.n", None),
        ({"metadata": {"n": "\0"}}, "metadata.n", f"{EACH} holds characters that cannot be stored."),
        ({"metadata": {"n": "x\u202ey"}}, "metadata.n", None),
        ({"metadata": dict.fromkeys(map(str, range(51)), "")}, "metadata", None),
        ({"metadata": {"": "x"}}, "metadata", "The metadata field must have names of 1 to 40 characters."),
        ({"metadata": {"x" * 41: "x"}}, "metadata", None),
        ({"metadata": {"a\0": "x"}}, "metadata", None),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_at_its_field(
    a: Tenant, fields: dict[str, Any], where: str, sentence: str | None
) -> None:
    path = a.path
    before = traces()
    for refused in (create(a, **fields), a.api.patch(path, fields)):
        assert (refused.status_code, list(refused.json()["errors"])) == (422, [where])
        assert sentence is None or refused.json()["errors"][where] == [sentence]
    assert traces() == before


def test_fifty_texts_as_long_as_they_may_be_are_kept(a: Tenant) -> None:
    most = {f"{number:02}{'x' * 38}": "y" * 500 for number in range(50)}
    assert create(a, metadata=most).json()["data"]["metadata"] == most


def test_the_list_finds_an_external_id_as_it_is_written(a: Tenant, b: Tenant) -> None:
    made = create(a, external_id="crm & 1").json()["data"]["uuid"]
    create(a, external_id="crm & 12")
    create(b, external_id="crm & 1")

    def found(query: str) -> list[str]:
        return [row["uuid"] for row in a.api.get(f"/workspaces?{query}").json()["data"]]

    assert found("external_id=crm%20%26%201") == [made]
    assert found("external_id=CRM%20%26%201") == found("external_id=%00") == found("external_id=crm") == []


def test_names_and_texts_are_trimmed_and_no_name_stands_twice(a: Tenant) -> None:
    created = create(a, metadata={" tier ": " gold "}).json()["data"]
    assert created["metadata"] == {"tier": "gold"}
    refused = create(a, metadata={"tier": "gold", " tier": "silver"})
    told = {"metadata": ["The metadata field must not have the same name twice."]}
    assert (refused.status_code, refused.json()["errors"]) == (422, told)
    made = a.workspace_api.post("/contacts", {"name": "Ada", "attributes": {" plan": "gold "}}).json()["data"]
    assert made["attributes"] == {"plan": "gold"}
    rows = [{"name": "Ben", "phone": "+4915112345678", "attributes": {"plan ": " gold"}}]
    assert a.workspace_api.post("/contacts/import", {"contacts": rows}).json()["data"]["created"] == 1
    found = a.workspace_api.get("/contacts?phone=%2B4915112345678").json()["data"]
    assert found[0]["attributes"] == {"plan": "gold"}
    twice = a.workspace_api.post("/contacts", {"name": "Eve", "attributes": {"plan": "a", "plan ": "b"}})
    assert list(twice.json()["errors"]) == ["attributes"]
