"""The fields of a write: which are taken, and how the others are refused."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.conftest import AGENCY
from tests.api.surfaces.serializers import ThingWriteSerializer
from tests.sizes import size

pytestmark = pytest.mark.slow

ID = "0b7a4d9e-c0de-4000-8000-00000000abcd"
BERLIN = "Europe/Berlin"
Create = Callable[..., Any]


@pytest.fixture
def create(agency: Client) -> Create:
    def post(**fields: Any) -> Any:
        return agency.post(f"{AGENCY}/things", {"name": "Bakery", **fields}, content_type="application/json")

    return post


def refusal_of(answer: Any, field: str) -> str:
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    (sentence,) = answer.json()["errors"][field]
    assert answer.json()["message"] == sentence
    return str(sentence)


def test_declared_fields_are_taken_and_unknown_ones_ignored(create: Create) -> None:
    answer = create(
        name="  B\u00e4ckerei  ", plan=ID.upper(), id=7, __class__="x", enabled=False, timezone="Europe/Berlin"
    )
    assert answer.status_code == 201
    assert answer.json()["data"] == {
        "name": "B\u00e4ckerei",
        "plan": ID,
        "enabled": False,
        "timezone": BERLIN,
        "sent": ["enabled", "name", "plan", "timezone"],
    }


def test_a_default_stands_in_for_what_was_not_sent(create: Create) -> None:
    assert create().json()["data"]["timezone"] == "UTC"


def test_a_patch_changes_only_what_was_sent(agency: Client) -> None:
    body = {"note": "", "plan": None, "unknown": 1}
    answer = agency.patch(f"{AGENCY}/things/{ID}", body, content_type="application/json")
    assert answer.json() == {"data": {"note": "", "plan": None}}


@pytest.mark.parametrize(
    "name", [None, "", "   ", "\u200b", "\u200b\ufeff\u2060", "\u3164", "\u2800", "\u00ad", "\t\n", "\u202f \u3000"]
)
def test_a_name_that_nobody_sees_is_missing(create: Create, name: str | None) -> None:
    assert refusal_of(create(name=name), "name") == "The name field is required."


def test_a_missing_name_is_missing(agency: Client) -> None:
    answer = agency.post(f"{AGENCY}/things", {}, content_type="application/json")
    assert refusal_of(answer, "name") == "The name field is required."


@pytest.mark.parametrize("name", [1, 0, 1.5, True, False, [], ["x"], {}, {"a": "b"}])
def test_a_name_of_another_type_is_refused(create: Create, name: Any) -> None:
    assert refusal_of(create(name=name), "name") == "The name field must be a string."


@pytest.mark.parametrize("mark", ["\n", "\r", "\t", "\x01", "\x1b", "\x7f", "\x85", "\u2028", "\u2029"])
def test_control_characters_in_a_name_are_refused(create: Create, mark: str) -> None:
    sentence = refusal_of(create(name=f"a{mark}b"), "name")
    assert sentence == "The name field must not contain control characters."


@pytest.mark.parametrize(
    "text",
    [
        *(f"a{mark}b" for mark in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"),
        "\u202aa\u202c",
        "\u2069a\u2066",
        "\u2066a\u2069\u2069",
        "\u2066\u2067a\u2069",
        "\u2068\u202ea\u2069",
    ],
)
def test_marks_that_override_the_direction_are_refused(create: Create, text: str) -> None:
    for field in ("name", "note"):
        sentence = refusal_of(create(**{field: text}), field)
        assert sentence.endswith("characters that override the direction of text.")


@pytest.mark.parametrize(
    "text", ["\u2067\u05d0\u05d1\u2069 Caf\u00e9", "\u2068a\u2069\u2068b\u2069", "\u2066a \u2067\u0645\u2069\u2069"]
)
def test_isolates_are_taken_in_pairs(create: Create, text: str) -> None:
    shown = create(name=text, note=text).json()["data"]
    assert (shown["name"], shown["note"]) == (text, text)


@pytest.mark.parametrize("field", ["note", "owner", "plan", "business_type", "enabled", "size", "timezone", "order"])
def test_null_in_an_optional_field_of_a_create_is_like_leaving_it_out(create: Create, field: str) -> None:
    without, answer = create().json()["data"], create(**{field: None})
    assert answer.status_code == 201
    shown = answer.json()["data"]
    assert {name: shown[name] for name in without if name != "sent"} == {
        name: value for name, value in without.items() if name != "sent"
    }


@pytest.mark.parametrize("field", ["name", "note", "enabled", "size", "timezone", "order"])
def test_null_in_a_change_is_no_value_of_a_field_that_knows_none(agency: Client, field: str) -> None:
    answer = agency.patch(f"{AGENCY}/things/{ID}", {field: None}, content_type="application/json")
    assert refusal_of(answer, field) == f"The {field} field is required."


@pytest.mark.parametrize(
    "name", ["\u05d0\u05d1", "\u0645\u0631\u062d\u0628\u0627", "\U0001f469\u200d\U0001f373 Caf\u00e9", "x" * 20]
)
def test_names_of_every_script_are_taken(create: Create, name: str) -> None:
    assert create(name=name).json()["data"]["name"] == name


def test_a_length_is_judged_after_trimming(create: Create) -> None:
    assert create(name=" " + "x" * 20 + " ").status_code == 201
    sentence = refusal_of(create(name="x" * 21), "name")
    assert sentence == "The name field may have at most 20 characters."


def test_a_note_may_have_lines_and_tabs_and_no_other_controls(create: Create) -> None:
    assert create(note="a\r\nb\tc\n").json()["data"]["note"] == "a\nb\tc"
    assert create(note="a\rb").status_code == 422
    assert create(note="a\x0bb").status_code == 422


def test_fields_inside_objects_have_dotted_names(create: Create) -> None:
    answer = create(owner={"name": "", "email": "nobody"})
    assert answer.json() == {
        "message": "The owner.name field is required. (and 1 more error)",
        "errors": {
            "owner.name": ["The owner.name field is required."],
            "owner.email": ["The owner.email field must be a valid e-mail address."],
        },
    }


def test_three_errors_are_counted(create: Create) -> None:
    answer = create(name=1, enabled="yes", business_type="x")
    assert answer.json()["message"] == "The name field must be a string. (and 2 more errors)"


@pytest.mark.parametrize("owner", ["x", 1, [], [{}], True])
def test_an_owner_must_be_an_object(create: Create, owner: Any) -> None:
    assert refusal_of(create(owner=owner), "owner") == "The owner field must be an object."


# Another spelling of an address, an encoded word, and domains that the DNS cannot name.
MISSPELLED = ['"ann"@c.example', "=?utf-8?q?a=0ab?=@c.example", f"a@{'ü' * 60}.example", "\u212aann@c.example"]


@pytest.mark.parametrize(
    "email", ["x", "@", "a@b", "a b@c.example", "a@c.example\n.x", "a" * 250 + "@c.example", 5, *MISSPELLED]
)
def test_an_address_that_is_none_is_refused(create: Create, email: Any) -> None:
    refusal_of(create(owner={"name": "Ann", "email": email}), "owner.email")


@pytest.mark.parametrize("plan", ["x", 5, ID[:-1], f"{{{ID}}}", ID.replace("-", ""), [], True, ""])
def test_a_uuid_that_is_none_is_refused(create: Create, plan: Any) -> None:
    assert refusal_of(create(plan=plan), "plan") == "The plan field must be a uuid."


@pytest.mark.parametrize("kind", ["x", "", "Retail", 1, True, ["retail"], {}])
def test_a_choice_is_one_of_its_values(create: Create, kind: Any) -> None:
    sentence = refusal_of(create(business_type=kind), "business_type")
    assert sentence == "The business type field must be one of: retail, other."


@pytest.mark.parametrize("enabled", ["true", "false", 0, 1, "on", "", [], {}])
def test_a_flag_is_true_or_false(create: Create, enabled: Any) -> None:
    assert refusal_of(create(enabled=enabled), "enabled") == "The enabled field must be true or false."


@pytest.mark.parametrize("zone", ["Mars/Olympus", "europe/berlin", "../etc/passwd", "localtime", "Factory", "UTC+1", 1])
def test_a_zone_is_one_of_the_database(create: Create, zone: Any) -> None:
    refusal_of(create(timezone=zone), "timezone")


def test_entries_of_a_list_are_named_by_position(create: Create) -> None:
    answer = create(order=[ID, "x", 5])
    assert list(answer.json()["errors"]) == ["order.1", "order.2"]
    assert answer.json()["errors"]["order.1"] == ["Each entry of the order field must be a uuid."]


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("x", "The order field must be a list."),
        ({}, "The order field must be a list."),
        ([ID] * 4, "The order field may have at most 3 entries."),
        ([ID, ID.upper()], "The order field must not name the same entry twice."),
    ],
)
def test_a_list_keeps_its_bounds(create: Create, order: Any, sentence: str) -> None:
    assert refusal_of(create(order=order), "order") == sentence


def test_a_list_may_be_empty_unless_it_needs_an_entry(create: Create) -> None:
    assert create(order=[]).json()["data"]["order"] == []
    assert refusal_of(create(events=[]), "events") == "The events field is required."


def test_a_body_apart_from_a_request_must_be_an_object_too() -> None:
    serializer = ThingWriteSerializer(data=["name"])
    assert not serializer.is_valid()
    assert serializer.errors == {"non_field_errors": ["The body must be an object."]}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["name", "note", "owner", "plan", "business_type", "enabled", "timezone", "order", "events"]


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=size("requests", "fields"))
def test_no_body_is_a_surprise(agency: Client, settings: Any, body: dict[str, Any]) -> None:
    settings.AGENCY_KEY_LIMIT = 10**6
    answer = agency.post(f"{AGENCY}/things", body, content_type="application/json")
    assert answer.status_code in (201, 400, 422)
    assert answer.status_code == 201 or answer.json()["message"]
