"""Entries from the library: added, renamed, described, ordered, removed, retired."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from packs.library import library
from tests import furnished
from tests.packs.client import PackClient, errors, wide
from tests.packs.small_library import ASSISTANT, BOOKING, REMINDER, REVIEWS, WELCOME, extra
from tests.tenants import Tenant, message

a = furnished.a_with_customer

FIELDS = [
    "uuid", "source", "template_id", "name", "library_name", "name_override", "description", "description_override",
    "tier", "requires", "ai", "catch_all", "trigger_label", "channels", "missing", "slots",
]  # fmt: skip


@pytest.fixture
def pack(packs: PackClient) -> str:
    return packs.new()


def path(pack: str, entry: str) -> str:
    return f"/packs/{pack}/entries/{entry}"


def test_a_library_automation_is_added_with_all_that_follows_from_it(a: Tenant, pack: str) -> None:
    answer = a.api.post(f"/packs/{pack}/entries", {"template_id": BOOKING})
    assert answer.status_code == 201
    entry = answer.json()["data"]
    assert list(entry) == FIELDS
    assert entry | {"uuid": None} == {
        "uuid": None,
        "source": "library",
        "template_id": BOOKING,
        "name": "Book a visit",
        "library_name": "Book a visit",
        "name_override": None,
        "description": "Book a visit, for you.",
        "description_override": None,
        "tier": "core",
        "requires": ["service", "availability"],
        "ai": False,
        "catch_all": False,
        "trigger_label": "A message with a keyword",
        "channels": ["whatsapp", "facebook", "instagram", "telegram", "livechat"],
        "missing": False,
        "slots": [],
    }


def test_get_library_lists_every_item(a: Tenant) -> None:
    answer = a.api.get("/packs/library").json()
    assert list(answer) == ["data"]
    assert [item["id"] for item in answer["data"]] == list(library().items)
    (assistant,) = [item for item in answer["data"] if item["id"] == ASSISTANT]
    assert assistant == {
        "id": ASSISTANT,
        "name": "Assistant",
        "description": "Assistant, for you.",
        "catch_all": True,
        "ai": True,
        "requires": [],
        "industry": "salons",
        "industry_label": "Salons",
        "trigger_label": "Any message",
        "channels": ["whatsapp", "facebook", "instagram", "telegram", "livechat"],
    }


NAMES_NONE: tuple[dict[str, Any], ...] = (
    {},
    {"template_id": None},
    {"template_id": ""},
    {"template_id": 7},
    {"template_id": "no-such-item"},
    {"template_id": "x" * 300},
    {"workspace": str(uuid.uuid4())},
    {"automation": str(uuid.uuid4())},
    {"template_id": BOOKING, "workspace": str(uuid.uuid4()), "automation": str(uuid.uuid4())},
    {"template_id": BOOKING, "workspace": str(uuid.uuid4())},
)


def test_what_names_no_automation_is_refused_on_template_id(a: Tenant, pack: str) -> None:
    for body in NAMES_NONE:
        assert list(errors(a.api.post(f"/packs/{pack}/entries", body))) == ["template_id"], body


def test_the_tenth_automation_is_refused_on_template_id(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(*[extra(number) for number in range(1, 10)])
    answer = a.api.post(f"/packs/{pack}/entries", {"template_id": extra(10)})
    assert errors(answer) == {"template_id": ["A pack holds at most 9 automations."]}
    assert len(packs.read(pack)["entries"]) == 9


def test_a_second_catch_all_is_refused_on_template_id(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(WELCOME)
    assert list(errors(a.api.post(f"/packs/{pack}/entries", {"template_id": ASSISTANT}))) == ["template_id"]
    entry = packs.read(pack)["entries"][0]["uuid"]
    a.api.delete(path(pack, entry))
    assert packs.add(pack, ASSISTANT)["catch_all"] is True


def test_the_same_library_automation_twice_is_refused_on_template_id(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(BOOKING)
    packs.api.patch(path(pack, packs.read(pack)["entries"][0]["uuid"]), {"name": "Renamed"})
    assert list(errors(a.api.post(f"/packs/{pack}/entries", {"template_id": BOOKING}))) == ["template_id"]
    assert packs.add(packs.new("Another"), BOOKING)["template_id"] == BOOKING


def test_an_automation_of_a_name_already_there_is_refused_on_template_id(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(REMINDER)
    a.api.patch(path(pack, packs.read(pack)["entries"][0]["uuid"]), {"name": wide("BOOK") + " a visit"})
    assert list(errors(a.api.post(f"/packs/{pack}/entries", {"template_id": BOOKING}))) == ["template_id"]


def test_a_name_is_overridden_and_restored(a: Tenant, packs: PackClient, pack: str) -> None:
    entry = packs.add(pack, BOOKING)["uuid"]
    changed = a.api.patch(path(pack, entry), {"name": " Come and see us "}).json()["data"]
    assert (changed["name"], changed["library_name"], changed["name_override"]) == (
        "Come and see us", "Book a visit", "Come and see us",
    )  # fmt: skip
    for empty in (None, "", "  "):
        a.api.patch(path(pack, entry), {"name": "Else"})
        restored = a.api.patch(path(pack, entry), {"name": empty}).json()["data"]
        assert (restored["name"], restored["name_override"]) == ("Book a visit", None)


# Two ways to write one name.
SAME = {"École": "e\u0301cole", "Straße": "STRASSE", "ﬁx it": "FIX IT", wide("ABC"): "abc", "Σας": "ΣΑΣ"}


def test_a_name_taken_in_the_pack_is_refused_whatever_its_case_and_form(
    a: Tenant, packs: PackClient, pack: str
) -> None:
    first, second = packs.add(pack, extra(1))["uuid"], packs.add(pack, extra(2))["uuid"]
    for taken, name in SAME.items():
        assert a.api.patch(path(pack, first), {"name": taken}).status_code == 200, taken
        assert list(errors(a.api.patch(path(pack, second), {"name": name}))) == ["name"], name
        assert a.api.patch(path(pack, first), {"name": name}).status_code == 200, name


def test_restoring_a_library_name_that_is_taken_is_refused_on_name(a: Tenant, packs: PackClient, pack: str) -> None:
    first, second = packs.add(pack, extra(1))["uuid"], packs.add(pack, extra(2))["uuid"]
    a.api.patch(path(pack, first), {"name": "Else"})
    a.api.patch(path(pack, second), {"name": "EXTRA 1"})
    assert list(errors(a.api.patch(path(pack, first), {"name": None}))) == ["name"]


def test_a_description_is_overridden_and_restored(a: Tenant, packs: PackClient, pack: str) -> None:
    entry = packs.add(pack, BOOKING)["uuid"]
    changed = a.api.patch(path(pack, entry), {"description": "d" * 500}).json()["data"]
    assert (changed["description"], changed["description_override"]) == ("d" * 500, "d" * 500)
    for empty in (None, ""):
        restored = a.api.patch(path(pack, entry), {"description": empty}).json()["data"]
        assert (restored["description"], restored["description_override"]) == ("Book a visit, for you.", None)


def test_requires_replaces_the_whole_list(a: Tenant, packs: PackClient, pack: str) -> None:
    entry = packs.add(pack, BOOKING)["uuid"]
    for wanted in (["payment", "contact"], [], ["template"]):
        assert a.api.patch(path(pack, entry), {"requires": wanted}).json()["data"]["requires"] == wanted


def test_tier_is_core_or_optional(a: Tenant, packs: PackClient, pack: str) -> None:
    entry = packs.add(pack, BOOKING)["uuid"]
    for tier in ("optional", "core"):
        assert a.api.patch(path(pack, entry), {"tier": tier}).json()["data"]["tier"] == tier


WRONG: tuple[tuple[str, Any, str], ...] = (
    ("name", "n" * 121, "name"),
    ("name", 4, "name"),
    ("description", "d" * 501, "description"),
    ("tier", "extra", "tier"),
    ("tier", None, "tier"),
    ("requires", None, "requires"),
    ("requires", "service", "requires"),
    ("requires", ["service", "money"], "requires.1"),
)


def test_fields_of_an_entry_are_held_to_their_rules(a: Tenant, packs: PackClient, pack: str) -> None:
    entry = packs.add(pack, BOOKING)
    for field, value, named in WRONG:
        assert list(errors(a.api.patch(path(pack, entry["uuid"]), {field: value}))) == [named], value
    assert packs.read(pack)["entries"] == [entry]


def test_patch_of_an_entry_changes_only_what_is_sent(a: Tenant, packs: PackClient, pack: str) -> None:
    entry = packs.add(pack, BOOKING)["uuid"]
    a.api.patch(path(pack, entry), {"name": "N", "description": "D", "tier": "optional", "requires": ["contact"]})
    after = a.api.patch(path(pack, entry), {"source": "custom", "flow": {}}).json()["data"]
    assert (after["name"], after["description"], after["tier"], after["requires"], after["source"]) == (
        "N", "D", "optional", ["contact"], "library",
    )  # fmt: skip


def test_put_entries_order_answers_with_the_pack(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(extra(1), extra(2), extra(3), extra(4))
    one, two, three, four = (entry["uuid"] for entry in packs.read(pack)["entries"])
    answer = a.api.put(f"/packs/{pack}/entries/order", {"order": [four, two.upper()]})
    assert [entry["uuid"] for entry in answer.json()["data"]["entries"]] == [four, two, one, three]
    assert answer.json()["data"] == packs.read(pack)


def test_an_entries_order_with_a_uuid_not_in_the_pack_is_refused(a: Tenant, packs: PackClient) -> None:
    pack, other = packs.with_entries(extra(1)), packs.with_entries(extra(2))
    mine, foreign = (packs.read(one)["entries"][0]["uuid"] for one in (pack, other))
    address = f"/packs/{pack}/entries/order"
    assert list(errors(a.api.put(address, {"order": [foreign]}))) == ["order"]
    assert list(errors(a.api.put(address, {"order": [mine, mine]}))) == ["order"]
    assert list(errors(a.api.put(address, {"order": [5]}))) == ["order.0"]


def test_an_entry_of_another_pack_is_not_found_in_this_one(a: Tenant, packs: PackClient) -> None:
    pack, other = packs.with_entries(extra(1)), packs.with_entries(extra(2))
    foreign = packs.read(other)["entries"][0]["uuid"]
    for entry in (foreign, str(uuid.uuid4()), "nonsense"):
        for answer in (a.api.patch(path(pack, entry), {"tier": "core"}), a.api.delete(path(pack, entry))):
            assert (answer.status_code, message(answer)) == (404, "Automation not found in this pack.")
    assert packs.names(other) == ["Extra 2"]


def test_positions_close_up_behind_a_removed_entry(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(*[extra(number) for number in range(1, 10)])
    a.api.delete(path(pack, packs.read(pack)["entries"][3]["uuid"]))
    packs.add(pack, extra(10))
    assert packs.names(pack) == [f"Extra {number}" for number in (1, 2, 3, 5, 6, 7, 8, 9, 10)]


def test_a_retired_library_automation_is_missing(
    a: Tenant, packs: PackClient, pack: str, retire: Callable[..., None]
) -> None:
    before = packs.add(pack, REVIEWS)
    assert before["missing"] is False
    retire(REVIEWS)
    (after,) = packs.read(pack)["entries"]
    assert after == before | {"missing": True}
    assert list(errors(a.api.post(f"/packs/{packs.new()}/entries", {"template_id": REVIEWS}))) == ["template_id"]
    assert REVIEWS not in [item["id"] for item in a.api.get("/packs/library").json()["data"]]
    assert a.api.patch(path(pack, after["uuid"]), {"tier": "optional"}).json()["data"]["missing"] is True
