"""Ids in paths."""

import pytest
from django.test import Client

from tests.api.conftest import AGENCY

ID = "0b7a4d9e-c0de-4000-8000-00000000abcd"


@pytest.mark.parametrize("written", [ID, ID.upper(), ID.title()])
def test_an_id_is_taken_in_any_case_and_answered_in_lower_case(agency: Client, written: str) -> None:
    assert agency.get(f"{AGENCY}/things/{written}").json() == {"data": {"uuid": ID}}


@pytest.mark.parametrize(
    "written",
    [
        "x", ID[:-1], ID + "0", ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}", ID.replace("a", "\uff41"),
        f"{ID}%00", f"{ID}%0A", "%00", "%ff", "%2e%2e", "g" * 500, "0" * 32, ID.replace("0", "\u0660"),
    ],
)  # fmt: skip
def test_a_malformed_id_reads_like_an_unknown_one(agency: Client, written: str) -> None:
    answer = agency.get(f"{AGENCY}/things/{written}")
    assert (answer.status_code, answer.json()) == (404, {"message": "Thing not found."})
