"""How keys look and how they are presented."""

import re
import string
import zlib

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config.api.keys import checksum, display_prefix, has_key_format, key_digest, new_key
from tests.api.conftest import AGENCY, WORKSPACE

MISSING = 'API key missing. Send it as the "x-api-key" header or a Bearer token.'
INVALID = "Invalid API key."


@pytest.mark.parametrize("prefix", ["svc_ag_", "svc_"])
def test_a_new_key_is_its_prefix_and_forty_base62_characters(prefix: str) -> None:
    key = new_key(prefix)
    assert re.fullmatch(f"{prefix}[0-9A-Za-z]{{40}}", key)
    assert has_key_format(prefix, key)
    assert new_key(prefix) != key


def test_the_checksum_is_the_crc_32_of_the_prefix_and_the_random_characters() -> None:
    body = "svc_ag_" + "A" * 34
    number = 0
    for digit in checksum(body):
        number = number * 62 + (string.digits + string.ascii_uppercase + string.ascii_lowercase).index(digit)
    assert number == zlib.crc32(body.encode())
    assert checksum(body) == "0LzEfF"
    assert has_key_format("svc_ag_", body + "0LzEfF")


def test_an_agency_key_is_no_workspace_key_and_the_other_way_round() -> None:
    assert not has_key_format("svc_", new_key("svc_ag_"))
    assert not has_key_format("svc_ag_", new_key("svc_"))


@given(position=st.integers(min_value=0, max_value=46), character=st.characters())
def test_one_changed_character_is_noticed(position: int, character: str) -> None:
    key = new_key("svc_ag_")
    changed = key[:position] + character + key[position + 1 :]
    assert has_key_format("svc_ag_", changed) is (changed == key)


def test_what_is_stored_is_nothing_but_the_first_twelve_characters() -> None:
    key = new_key("svc_ag_")
    assert len(key_digest(key)) == 32
    assert display_prefix(key) == key[:12]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": ""},
        {"x-api-key": "   "},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer    "},
        {"Authorization": "Basic dTpw"},
        {"Authorization": "Digest x"},
        {"Cookie": "x-api-key=svc_ag_x"},
    ],
)
def test_no_value_is_a_missing_key(anonymous: Client, headers: dict[str, str]) -> None:
    answer = anonymous.get(f"{AGENCY}/things", headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"message": MISSING})


@pytest.mark.parametrize(
    "presented",
    [
        "{key} ",
        "\t{key}",
        "{key},{key}",
        "{key}\x00",
        "\x00",
        "\xff",
        "x" * 10_000,
        "{upper}",
        "\uff33\uff36\uff23_ag_",
        "svc_ag_",
        "{key}\n",
    ],
)
def test_a_value_that_is_no_key_is_invalid(anonymous: Client, agency_key: str, presented: str) -> None:
    value = presented.format(key=agency_key, upper=agency_key.upper())
    for header in ({"HTTP_X_API_KEY": value}, {"HTTP_AUTHORIZATION": f"Bearer {value}"}):
        answer = anonymous.get(f"{AGENCY}/things", **header)  # type: ignore[arg-type]  # WSGI variables
        assert (answer.status_code, answer.json()) == (401, {"message": INVALID})


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("spaces", [" ", "  ", "     "])
def test_a_bearer_token_is_as_good_as_the_header(
    anonymous: Client, agency_key: str, workspace_key: str, scheme: str, spaces: str
) -> None:
    for surface, key in ((AGENCY, agency_key), (WORKSPACE, workspace_key)):
        answer = anonymous.get(f"{surface}/things", headers={"Authorization": f"{scheme}{spaces}{key}"})
        assert answer.status_code == 200


def test_a_blank_before_a_key_is_part_of_it_in_the_header_of_its_own(anonymous: Client, agency_key: str) -> None:
    answer = anonymous.get(f"{AGENCY}/things", HTTP_X_API_KEY=f" {agency_key}")
    assert (answer.status_code, answer.json()) == (401, {"message": INVALID})


def test_the_x_api_key_header_wins_over_the_bearer_token(anonymous: Client, agency_key: str) -> None:
    good_header = {"x-api-key": agency_key, "Authorization": "Bearer nonsense"}
    assert anonymous.get(f"{AGENCY}/things", headers=good_header).status_code == 200
    bad_header = {"x-api-key": "nonsense", "Authorization": f"Bearer {agency_key}"}
    assert anonymous.get(f"{AGENCY}/things", headers=bad_header).json() == {"message": INVALID}
    empty_header = {"x-api-key": "", "Authorization": f"Bearer {agency_key}"}
    assert anonymous.get(f"{AGENCY}/things", headers=empty_header).status_code == 200


def test_a_key_in_the_query_or_the_body_is_missing(anonymous: Client, agency_key: str) -> None:
    sent = {"x-api-key": agency_key, "api_key": agency_key}
    assert anonymous.get(f"{AGENCY}/things", sent).json() == {"message": MISSING}
    assert anonymous.post(f"{AGENCY}/things", sent, "application/json").json() == {"message": MISSING}
