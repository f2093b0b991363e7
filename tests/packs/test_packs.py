"""Packs: `GET`, `POST`, `PATCH`, `DELETE /packs…`, their statuses and their order."""

import uuid
from typing import Any

import pytest

from tests import furnished
from tests.packs.client import PackClient, errors
from tests.packs.small_library import BOOKING, extra
from tests.tenants import Tenant, message

a, b = furnished.a_with_customer, furnished.b_with_customer

FIELDS = ["uuid", "name", "summary", "industry", "business_type", "status", "installed_in", "entries"]


def test_get_packs_is_data_and_meta_without_pages(a: Tenant) -> None:
    answer = a.api.get("/packs?page=2&per_page=1")
    assert answer.json() == {"data": [], "meta": {"replace_platform": False, "max_entries": 9}}


def test_post_packs_answers_201_with_a_draft(a: Tenant) -> None:
    body = {"name": " Salon starter ", "summary": "All you need", "industry": "salons", "business_type": "salon_spa"}
    answer = a.api.post("/packs", body)
    assert answer.status_code == 201
    pack = answer.json()["data"]
    assert list(pack) == FIELDS
    assert pack | {"uuid": None} == body | {
        "uuid": None, "name": "Salon starter", "status": "draft", "installed_in": 0, "entries": [],
    }  # fmt: skip


def test_post_packs_needs_a_name_alone(a: Tenant) -> None:
    pack = a.api.post("/packs", {"name": "x"}).json()["data"]
    assert (pack["summary"], pack["industry"], pack["business_type"]) == (None, None, None)
    assert errors(a.api.post("/packs", {})) == {"name": ["The name field is required."]}


def test_a_status_in_the_body_of_a_new_pack_is_ignored(a: Tenant) -> None:
    answer = a.api.post("/packs", {"name": "x", "status": "published"})
    assert answer.status_code == 201
    assert answer.json()["data"]["status"] == "draft"


WRONG: tuple[tuple[str, Any], ...] = (
    ("name", ""),
    ("name", None),
    ("name", 5),
    ("name", "n" * 121),
    ("summary", "s" * 301),
    ("summary", 1),
    ("industry", "farming"),
    ("industry", ""),
    ("business_type", "salons"),
)


def test_fields_of_a_pack_are_held_to_their_rules(a: Tenant, packs: PackClient) -> None:
    pack = packs.new()
    for field, value in WRONG:
        assert list(errors(a.api.post("/packs", {"name": "x", field: value}))) == [field], value
        assert list(errors(a.api.patch(f"/packs/{pack}", {field: value}))) == [field], value


def test_the_longest_texts_are_taken(packs: PackClient) -> None:
    pack = packs.new("n" * 120, summary="s" * 300)
    assert len(packs.read(pack)["summary"]) == 300


def test_patch_changes_only_what_is_sent(packs: PackClient) -> None:
    pack = packs.new("Old", summary="Kept", industry="events", business_type="other")
    changed = packs.change(pack, name="New")
    assert (changed["name"], changed["summary"], changed["industry"], changed["business_type"]) == (
        "New", "Kept", "events", "other",
    )  # fmt: skip


def test_null_clears(packs: PackClient) -> None:
    pack = packs.new("x", summary="s", industry="events", business_type="other")
    fields = ["summary", "industry", "business_type"]
    for number, field in enumerate(fields, 1):
        cleared = packs.change(pack, **{field: None})
        assert [name for name in fields if cleared[name] is None] == fields[:number]


def test_an_empty_patch_changes_nothing(packs: PackClient) -> None:
    pack = packs.new()
    assert packs.change(pack) == packs.read(pack)


def test_publishing_a_pack_without_automations_is_refused(a: Tenant, packs: PackClient) -> None:
    pack = packs.new()
    answer = a.api.patch(f"/packs/{pack}", {"status": "published", "name": "Kept out"})
    assert errors(answer) == {"status": ["Add at least one automation before publishing this pack."]}
    assert packs.read(pack)["name"] == "Starter"


def test_an_unknown_status_is_refused(a: Tenant, packs: PackClient) -> None:
    pack = packs.new()
    for status in ("live", "", None, 1):
        assert list(errors(a.api.patch(f"/packs/{pack}", {"status": status}))) == ["status"], status


def test_a_pack_moves_between_all_three_statuses(packs: PackClient) -> None:
    pack = packs.with_entries(BOOKING)
    for status in ("published", "archived", "published", "draft", "archived", "draft"):
        assert packs.change(pack, status=status)["status"] == status


def test_delete_removes_a_pack(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(BOOKING, status="published")
    assert a.api.delete(f"/packs/{pack}").json() == {"data": {"deleted": True}}
    gone = a.api.delete(f"/packs/{pack}")
    assert (gone.status_code, message(gone)) == (404, "Pack not found.")
    assert packs.all() == []


def test_deleting_the_last_entry_of_a_published_pack_makes_it_a_draft(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(BOOKING, extra(1), status="published")
    first, second = (entry["uuid"] for entry in packs.read(pack)["entries"])
    one = a.api.delete(f"/packs/{pack}/entries/{first}").json()
    assert one == {"data": {"deleted": True, "pack_status": "published", "unpublished": False}}
    other = a.api.delete(f"/packs/{pack}/entries/{second}").json()
    assert other == {"data": {"deleted": True, "pack_status": "draft", "unpublished": True}}
    assert packs.read(pack)["status"] == "draft"


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_a_pack_that_is_not_published_keeps_its_status_without_entries(
    a: Tenant, packs: PackClient, status: str
) -> None:
    pack = packs.with_entries(BOOKING, status=status)
    entry = packs.read(pack)["entries"][0]["uuid"]
    answer = a.api.delete(f"/packs/{pack}/entries/{entry}").json()
    assert answer == {"data": {"deleted": True, "pack_status": status, "unpublished": False}}


def test_packs_come_in_gallery_order_and_a_new_one_last(packs: PackClient) -> None:
    made = [packs.new(f"Pack {number}") for number in range(3)]
    assert [pack["uuid"] for pack in packs.all()] == made


def test_put_order_puts_the_named_first_and_the_others_after_them(a: Tenant, packs: PackClient) -> None:
    one, two, three, four = (packs.new(f"Pack {number}") for number in range(4))
    packs.change(two, status="archived")
    answer = a.api.put("/packs/order", {"order": [three.upper(), two]})
    assert answer.json() == {"data": [three, two, one, four]}
    assert [pack["uuid"] for pack in packs.all()] == [three, two, one, four]
    assert a.api.put("/packs/order", {"order": []}).json() == {"data": [three, two, one, four]}


def test_an_order_with_a_foreign_repeated_or_malformed_uuid_is_refused(a: Tenant, b: Tenant, packs: PackClient) -> None:
    mine, foreign = packs.new(), PackClient(b).new()
    assert list(errors(a.api.put("/packs/order", {"order": [mine, foreign]}))) == ["order"]
    assert list(errors(a.api.put("/packs/order", {"order": [str(uuid.uuid4())]}))) == ["order"]
    assert list(errors(a.api.put("/packs/order", {"order": [mine, mine.upper()]}))) == ["order"]
    assert list(errors(a.api.put("/packs/order", {"order": [mine, "x"]}))) == ["order.1"]
    assert list(errors(a.api.put("/packs/order", {"order": mine}))) == ["order"]
    assert list(errors(a.api.put("/packs/order", {}))) == ["order"]


def test_another_agencys_pack_reads_like_a_missing_one(a: Tenant, b: Tenant) -> None:
    foreign = PackClient(b).with_entries(BOOKING)
    entry = PackClient(b).read(foreign)["entries"][0]["uuid"]
    for pack in (foreign, str(uuid.uuid4()), "not-a-uuid"):
        answers = [
            a.api.get(f"/packs/{pack}"),
            a.api.patch(f"/packs/{pack}", {"name": "x"}),
            a.api.delete(f"/packs/{pack}"),
            a.api.post(f"/packs/{pack}/entries", {"template_id": BOOKING}),
            a.api.put(f"/packs/{pack}/entries/order", {"order": []}),
            a.api.patch(f"/packs/{pack}/entries/{entry}", {"tier": "core"}),
            a.api.delete(f"/packs/{pack}/entries/{entry}"),
        ]
        assert {(answer.status_code, message(answer)) for answer in answers} == {(404, "Pack not found.")}
    assert PackClient(b).names(foreign) == ["Book a visit"]
    assert a.api.get("/packs").json()["data"] == []


def test_visibility_is_false_until_it_is_set(a: Tenant, b: Tenant) -> None:
    assert a.api.get("/packs/visibility").json() == {"data": {"replace_platform": False}}
    for wanted in (True, True, False, True):
        answer = a.api.put("/packs/visibility", {"replace_platform": wanted})
        assert answer.json() == {"data": {"replace_platform": wanted}}
    assert a.api.get("/packs").json()["meta"]["replace_platform"] is True
    assert b.api.get("/packs/visibility").json() == {"data": {"replace_platform": False}}
    for wrong in ({}, {"replace_platform": None}, {"replace_platform": "true"}, {"replace_platform": 1}):
        assert list(errors(a.api.put("/packs/visibility", wrong))) == ["replace_platform"]


def test_wrong_methods_are_answered_with_what_is_allowed(a: Tenant, packs: PackClient) -> None:
    assert a.api.get("/packs/order").status_code == 405
    answer = a.api.put(f"/packs/{packs.new()}", {"name": "x"})
    assert (answer.status_code, set(answer["Allow"].split(", "))) == (405, {"GET", "PATCH", "DELETE", "HEAD"})
