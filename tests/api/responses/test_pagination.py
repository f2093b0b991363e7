"""Pages, links and filters of a list."""

from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.api.requests import parse_clamped_number
from tests.api.conftest import AGENCY, WORKSPACE
from tests.api.surfaces.views import MANY
from tests.sizes import size

pytestmark = pytest.mark.slow

ID = "0b7a4d9e-0000-4000-8000-000000000000"
HERE = f"http://testserver{AGENCY}/things"


def get(agency: Client, query: str) -> Any:
    answer = agency.get(f"{AGENCY}/things?{query}")
    assert answer.status_code == 200
    return answer.json()


def test_the_first_page_has_25_entries_and_says_where_it_stands(agency: Client) -> None:
    page = get(agency, "")
    assert [row["number"] for row in page["data"]] == list(range(1, 26))
    assert page["links"] == {
        "first": f"{HERE}?page=1",
        "last": f"{HERE}?page=3",
        "prev": None,
        "next": f"{HERE}?page=2",
    }
    assert page["meta"] == {"current_page": 1, "from": 1, "to": 25, "per_page": 25, "last_page": 3, "total": MANY}


def test_the_last_page_has_the_rest(agency: Client) -> None:
    page = get(agency, "page=3")
    assert [row["number"] for row in page["data"]] == [51, 52, 53]
    assert (page["links"]["prev"], page["links"]["next"]) == (f"{HERE}?page=2", None)
    assert (page["meta"]["from"], page["meta"]["to"]) == (51, 53)


def test_a_page_past_the_end_is_empty(agency: Client) -> None:
    page = get(agency, "page=4")
    assert page["data"] == []
    assert (page["meta"]["from"], page["meta"]["to"], page["meta"]["current_page"]) == (None, None, 4)
    assert (page["links"]["prev"], page["links"]["next"]) == (f"{HERE}?page=3", None)


def test_following_next_walks_the_whole_list(agency: Client) -> None:
    seen, address = [], f"{HERE}?per_page=10"
    while address:
        page = agency.get(address).json()
        seen += [row["number"] for row in page["data"]]
        address = page["links"]["next"]
    assert seen == list(range(1, MANY + 1))


@pytest.mark.parametrize(
    "number",
    [
        "0",
        "-1",
        "-999999999999999999999",
        "abc",
        "1.0",
        "1e3",
        "+1",
        "%2B1",
        "0x1",
        "",
        "\uff11",
        "\u0661",
        "%00",
        "%ff",
        "1%00",
        "1_0",
    ],
)
def test_what_is_no_page_number_is_page_one(agency: Client, number: str) -> None:
    assert get(agency, f"page={number}")["meta"]["current_page"] == 1


@pytest.mark.parametrize("number", ["1000000", "9" * 30, "9" * 3000])
def test_absurdly_large_pages_are_empty(agency: Client, number: str) -> None:
    page = get(agency, f"page={number}")
    assert page["data"] == []
    assert page["meta"]["from"] is None


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ("1", 1), ("100", 100), ("101", 100), ("9" * 50, 100), ("0", 1), ("-3", 1), ("007", 7),
        ("", 25), ("abc", 25), ("\uff11", 25), ("2.5", 25), ("1e1", 25), ("%00", 25),
    ],
)  # fmt: skip
def test_the_size_of_a_page_is_clamped(agency: Client, asked: str, size: int) -> None:
    assert get(agency, f"per_page={asked}")["meta"]["per_page"] == size


def test_limit_is_an_alias_on_the_workspace_surface_only(agency: Client, workspace: Client) -> None:
    def size(query: str) -> int:
        found: int = workspace.get(f"{WORKSPACE}/things?{query}").json()["meta"]["per_page"]
        return found

    assert size("limit=7") == 7
    assert size("limit=700") == 100
    assert size("limit=7&per_page=8") == 8
    assert size("limit=7&per_page=abc") == 25
    assert get(agency, "limit=7")["meta"]["per_page"] == 25


def test_links_keep_every_other_parameter_as_it_was_sent(agency: Client) -> None:
    query = "a=1&search=B%C3%A4cker+%26+S%C3%B6hne&page=2&per_page=10&a=2&empty=&raw=%FF"
    links = get(agency, query)["links"]
    kept = "a=1&search=B%C3%A4cker+%26+S%C3%B6hne&per_page=10&a=2&empty=&raw=%FF"
    assert links["next"] == f"{HERE}?{kept}&page=3"
    assert links["first"] == f"{HERE}?{kept}&page=1"


def test_a_disguised_page_parameter_is_not_kept_twice(agency: Client) -> None:
    assert get(agency, "p%61ge=2")["links"]["next"] == f"{HERE}?page=3"


def test_links_use_the_scheme_and_host_of_the_request(agency: Client) -> None:
    answer = agency.get(f"{AGENCY}/things", headers={"host": "agency.localhost:8123"})
    assert answer.json()["links"]["first"] == f"http://agency.localhost:8123{AGENCY}/things?page=1"
    secure = agency.get(f"{AGENCY}/things", secure=True)
    assert secure.json()["links"]["first"].startswith("https://testserver/")


@pytest.mark.parametrize("host", ["localhost:99999999", "localhost:1@evil.example", "localhost:x"])
def test_a_host_that_makes_no_address_is_not_repeated(agency: Client, settings: Any, host: str) -> None:
    answer = agency.get(f"{AGENCY}/things", headers={"host": host})
    if answer.status_code == 200:
        assert answer.json()["links"]["first"].startswith(f"{settings.PUBLIC_URL}/")


@pytest.mark.parametrize(
    "query",
    [
        "search=a%00b", "search=%FF", "search=%ED%A0%80", "status=gone", "status=%FF", "status=ACTIVE",
        "plan=zzz", "plan=%00", f"plan={{{ID}}}", f"plan=urn:uuid:{ID}", f"plan={ID.replace('-', '')}",
    ],
)  # fmt: skip
def test_a_value_that_cannot_match_matches_nothing(agency: Client, query: str) -> None:
    page = get(agency, query)
    assert page["data"] == []
    assert page["meta"]["total"] == 0
    assert page["meta"]["last_page"] == 1


@pytest.mark.parametrize("query", ["search=", "plan=", "status=", "search=+", "unknown=%00", "after=", "search"])
def test_blank_filters_and_unknown_parameters_are_ignored(agency: Client, query: str) -> None:
    assert get(agency, query)["meta"]["total"] == MANY


def test_the_last_of_a_repeated_parameter_counts(agency: Client) -> None:
    assert get(agency, "status=gone&status=active")["meta"]["total"] == MANY


@pytest.mark.parametrize("value", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5%2B02:00", "9999-12-31T23:59:59Z"])
def test_a_time_with_its_offset_is_a_filter(agency: Client, value: str) -> None:
    assert get(agency, f"after={value}")["meta"]["total"] == MANY


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01", "1", "9" * 400]
)
def test_a_malformed_time_is_422(agency: Client, value: str) -> None:
    answer = agency.get(f"{AGENCY}/things?after={value}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["after"]


def test_too_many_parameters_are_400(agency: Client) -> None:
    answer = agency.get(f"{AGENCY}/things?" + "&".join(f"a{n}=1" for n in range(1001)))
    assert (answer.status_code, answer.json()) == (400, {"message": "The query string has too many parameters."})


def test_a_plain_list_that_nothing_matches_is_plainly_empty(agency: Client) -> None:
    assert agency.get(f"{AGENCY}/echo?search=%00").json() == {"data": []}


@given(st.text(max_size=30))
def test_every_text_is_read_as_some_number_in_range(text: str) -> None:
    assert 1 <= parse_clamped_number(text, usual=25, highest=100) <= 100


@given(st.binary(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=size("requests", "query strings"))
def test_no_query_string_is_a_surprise(agency: Client, settings: Any, raw: bytes) -> None:
    settings.AGENCY_KEY_LIMIT = 10**6
    names = [b"page", b"per_page", b"search", b"plan", b"status", b"after"]
    query = b"&".join(name + b"=" + raw for name in names)
    answer = agency.get(f"{AGENCY}/things", QUERY_STRING=query.decode("latin-1"))
    assert answer.status_code in (200, 422)
    assert answer.json()
