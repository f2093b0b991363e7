"""`GET` and `PATCH /workspace`: the workspace of the key."""

from typing import Any

import pytest

from agency.models import ActivityEntry
from tests import furnished
from tests.tenants import Tenant

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
SHOWN = {
    "id", "name", "timezone", "business_type", "currency", "opening_hours", "address", "website", "phone", "created_at",
}  # fmt: skip
WORK = [["09:00", "12:00"], ["14:00", "18:00"]]
CHANGES = {
    "name": "Corner Salon",
    "timezone": "Europe/Berlin",
    "business_type": "salon_spa",
    "currency": "EUR",
    "opening_hours": {"monday": WORK},
    "address": "1 High Street\n10115 Berlin",
    "website": "https://corner-salon.example/",
    "phone": "+49 30 1234567",
}


def read(a: Tenant) -> dict[str, Any]:
    return dict(a.workspace_api.get("/workspace").json()["data"])


def change(a: Tenant, **changes: Any) -> Any:
    return a.workspace_api.patch("/workspace", changes)


def test_a_new_workspace_reads_with_nothing_set(a: Tenant) -> None:
    shown = read(a)
    assert shown.keys() == SHOWN
    assert (shown["id"], shown["name"], shown["currency"]) == (str(a.workspace.uuid), a.workspace.name, "USD")
    assert (shown["address"], shown["website"], shown["phone"]) == (None, None, None)
    assert list(shown["opening_hours"].values()) == [[]] * 7


def test_everything_but_id_and_creation_can_be_changed(a: Tenant) -> None:
    answer = change(a, **CHANGES, id="x", created_at="2020-01-01T00:00:00Z")
    assert answer.status_code == 200
    shown = answer.json()["data"]
    assert shown == read(a)
    assert shown["opening_hours"].pop("monday") == WORK
    assert list(shown["opening_hours"].values()) == [[]] * 6
    assert {name: shown[name] for name in CHANGES if name != "opening_hours"} == {
        name: value for name, value in CHANGES.items() if name != "opening_hours"
    }
    assert shown["id"] == str(a.workspace.uuid)


def test_what_is_left_out_stays_and_hours_are_replaced_as_a_whole(a: Tenant) -> None:
    change(a, **CHANGES)
    change(a, opening_hours={"sunday": [["10:00", "24:00"]]})
    shown = read(a)
    assert (shown["opening_hours"]["monday"], shown["opening_hours"]["sunday"]) == ([], [["10:00", "24:00"]])
    assert shown["phone"] == CHANGES["phone"]


@pytest.mark.parametrize("empty", [None, ""])
def test_a_text_is_taken_away(a: Tenant, empty: str | None) -> None:
    change(a, **CHANGES)
    assert change(a, phone=empty, address=empty, website=empty, opening_hours={}).status_code == 200
    shown = read(a)
    assert (shown["phone"], shown["address"], shown["website"]) == (None, None, None)
    assert list(shown["opening_hours"].values()) == [[]] * 7


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"currency": "Euro"}, "currency"),
        ({"timezone": "Berlin"}, "timezone"),
        ({"website": "corner-salon.example"}, "website"),
        ({"website": "javascript:alert(1)"}, "website"),
        ({"phone": "call me"}, "phone"),
        ({"phone": 4930}, "phone"),
        ({"address": "x" * 501}, "address"),
        ({"name": ""}, "name"),
        ({"opening_hours": []}, "opening_hours"),
        ({"opening_hours": {"monday": [["17:00", "09:00"]]}}, "opening_hours.monday"),
        ({"opening_hours": {"monday": [["09:00", "17:00", "18:00"]]}}, "opening_hours.monday.0"),
        ({"opening_hours": {"monday": "always"}}, "opening_hours.monday"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_field(a: Tenant, changes: dict[str, Any], field: str) -> None:
    before = read(a)
    answer = change(a, **changes)
    assert (answer.status_code, set(answer.json()["errors"])) == (422, {field})
    assert read(a) == before


def test_it_is_in_the_activity_of_the_agency_once(a: Tenant) -> None:
    for _ in range(2):
        change(a, opening_hours={"monday": WORK}, phone="+49 30 1234567")
    entry = ActivityEntry.objects.get(action="workspace.changed")
    assert entry.actor_kind == "workspace_key"
    assert entry.changes == {
        "opening_hours": ["", "Mon 09:00\u201312:00 and 14:00\u201318:00"],
        "phone": ["", "+49 30 1234567"],
    }


@pytest.mark.parametrize("hours", [{"funday": [["10:00", "12:00"]]}, {"monday": WORK, "Tuesday": WORK}, {"": []}])
def test_a_day_that_there_is_not_is_refused_and_erases_nothing(a: Tenant, hours: dict[str, Any]) -> None:
    change(a, **CHANGES)
    answer = change(a, opening_hours=hours)
    told = {"opening_hours": ["The opening hours field takes the days monday to sunday."]}
    assert (answer.status_code, answer.json()["errors"]) == (422, told)
    assert read(a)["opening_hours"]["monday"] == WORK
