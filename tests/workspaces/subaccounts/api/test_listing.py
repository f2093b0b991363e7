"""`GET /workspaces`: pages of sub-accounts, newest first."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.factories import PlanFactory, WorkspaceFactory, many_workspaces
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = "http://testserver/api/agency/v1/workspaces"


@pytest.fixture
def sixty(a: Tenant) -> Tenant:
    """`Crowd 1` is the oldest of sixty, `Crowd 60` the newest."""
    many_workspaces(a.agency, 60)
    return a


def names(answer: dict[str, Any]) -> list[str]:
    return [sub_account["name"] for sub_account in answer["data"]]


def crowd(first: int, last: int) -> list[str]:
    step = 1 if last >= first else -1
    return [f"Crowd {number}" for number in range(first, last + step, step)]


def test_an_agency_without_sub_accounts_has_one_empty_page(a: Tenant) -> None:
    assert a.api.get("/workspaces").json() == {
        "data": [],
        "links": {"first": f"{HERE}?page=1", "last": f"{HERE}?page=1", "prev": None, "next": None},
        "meta": {"current_page": 1, "from": None, "to": None, "per_page": 25, "last_page": 1, "total": 0},
    }


def test_the_first_page_has_the_25_newest(sixty: Tenant) -> None:
    answer = sixty.api.get("/workspaces").json()
    assert names(answer) == crowd(60, 36)
    assert answer["links"] == {
        "first": f"{HERE}?page=1", "last": f"{HERE}?page=3", "prev": None, "next": f"{HERE}?page=2",
    }  # fmt: skip
    assert answer["meta"] == {"current_page": 1, "from": 1, "to": 25, "per_page": 25, "last_page": 3, "total": 60}
    assert list(answer) == ["data", "links", "meta"]
    assert list(answer["links"]) == ["first", "last", "prev", "next"]
    assert list(answer["meta"]) == ["current_page", "from", "to", "per_page", "last_page", "total"]


def test_the_last_page_has_the_oldest(sixty: Tenant) -> None:
    answer = sixty.api.get("/workspaces?page=3").json()
    assert names(answer) == crowd(10, 1)
    assert (answer["links"]["prev"], answer["links"]["next"]) == (f"{HERE}?page=2", None)
    assert (answer["meta"]["from"], answer["meta"]["to"]) == (51, 60)


@pytest.mark.parametrize("size", [1, 7, 25, 59, 60, 61, 100])
def test_following_next_shows_each_sub_account_once_and_in_order(sixty: Tenant, size: int) -> None:
    seen, address = [], f"/workspaces?per_page={size}"
    while address:
        answer = sixty.api.get(address).json()
        seen += names(answer)
        address = answer["links"]["next"]
    assert seen == crowd(60, 1)


@pytest.mark.parametrize("page", [4, 5, 100, 10**12])
def test_a_page_past_the_end_is_empty(sixty: Tenant, page: int) -> None:
    response = sixty.api.get(f"/workspaces?page={page}")
    answer = response.json()
    assert (response.status_code, answer["data"]) == (200, [])
    assert answer["meta"] == {
        "current_page": page, "from": None, "to": None, "per_page": 25, "last_page": 3, "total": 60,
    }  # fmt: skip
    assert (answer["links"]["prev"], answer["links"]["next"]) == (f"{HERE}?page=3", None)


@pytest.mark.parametrize("page", ["0", "-1", "-99999999999999999999", "abc", "1.5", "1e3", "", "\uff11", "0x10"])
def test_a_page_below_1_or_not_a_number_is_1(sixty: Tenant, page: str) -> None:
    answer = sixty.api.get(f"/workspaces?page={page}").json()
    assert (answer["meta"]["current_page"], len(answer["data"])) == (1, 25)


@pytest.mark.parametrize(
    ("asked", "given"),
    [("1", 1), ("100", 100), ("101", 100), ("10" * 40, 100), ("0", 1), ("-5", 1), ("abc", 25), ("", 25), ("7.5", 25)],
)
def test_per_page_is_clamped_to_1_to_100_and_25_when_not_a_number(sixty: Tenant, asked: str, given: int) -> None:
    answer = sixty.api.get(f"/workspaces?per_page={asked}").json()
    assert (answer["meta"]["per_page"], len(answer["data"])) == (given, min(given, 60))


@pytest.mark.parametrize("query", [f"page={'9' * 400}", f"page=1{'0' * 30}&per_page=1{'0' * 30}", "page=1e30"])
def test_absurd_numbers_are_no_error(sixty: Tenant, query: str) -> None:
    assert sixty.api.get(f"/workspaces?{query}").status_code == 200


def test_limit_is_not_accepted(sixty: Tenant) -> None:
    assert sixty.api.get("/workspaces?limit=3").json()["meta"]["per_page"] == 25
    assert sixty.api.get("/workspaces?limit=3&per_page=5").json()["meta"]["per_page"] == 5


def test_unknown_parameters_are_ignored_and_kept_in_the_links(sixty: Tenant) -> None:
    answer = sixty.api.get("/workspaces?order_by=name&page=2&per_page=10&x=%C3%A9&id__gt=5").json()
    assert names(answer) == crowd(50, 41)
    for link in answer["links"].values():
        query = parse_qs(urlsplit(link).query)
        assert (query["order_by"], query["per_page"], query["x"]) == (["name"], ["10"], ["é"])
    assert [parse_qs(urlsplit(link).query)["page"] for link in answer["links"].values()] == [["1"], ["6"], ["1"], ["3"]]


def test_links_keep_the_filters(sixty: Tenant) -> None:
    answer = sixty.api.get("/workspaces?search=crowd%201&per_page=5").json()
    assert names(sixty.api.get(answer["links"]["next"]).json()) == crowd(14, 10)


def test_links_have_the_caller_s_own_host(sixty: Tenant) -> None:
    answer = sixty.api.get("/workspaces", host="api.localhost:8123").json()
    assert answer["links"]["next"] == "http://api.localhost:8123/api/agency/v1/workspaces?page=2"


def test_a_row_of_the_list_is_what_creation_answers(a: Tenant) -> None:
    a.api.post("/workspaces", {"name": "One", "owner": {"name": "A", "email": "a@example.com"}})
    created = a.api.post(
        "/workspaces", {"name": "Two", "owner": {"name": "B", "email": "b@example.com"}, "plan": str(a.plan.uuid)}
    ).json()["data"]
    a.api.post(f"/workspaces/{created['uuid']}/suspend")
    read = a.api.get(f"/workspaces/{created['uuid']}").json()["data"]
    (newest, _) = a.api.get("/workspaces").json()["data"]
    assert newest == {name: read[name] for name in created}
    assert newest["status"] == "suspended"


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("filters", ["", "&search=w", "&status=active"])
def test_sub_accounts_of_one_moment_are_ordered_by_id_on_every_page(a: Tenant, size: int, filters: str) -> None:
    made = [WorkspaceFactory.create(agency=a.agency, now=MOMENT, name=f"W{number}") for number in range(5)]
    seen = []
    for page in range(1, 6):
        seen += names(a.api.get(f"/workspaces?per_page={size}&page={page}{filters}").json())
    assert seen == [workspace.name for workspace in reversed(made)]


def test_order_is_by_creation_time_not_by_id(a: Tenant) -> None:
    for day in (2, 1, 3):
        WorkspaceFactory.create(agency=a.agency, now=MOMENT.replace(day=day), name=f"Day {day}")
    assert names(a.api.get("/workspaces").json()) == ["Day 3", "Day 2", "Day 1"]


def test_another_agency_s_sub_accounts_count_nowhere(a: Tenant, b: Tenant) -> None:
    many_workspaces(b.agency, 30)
    own = a.workspace
    answer = a.api.get("/workspaces").json()
    assert (names(answer), answer["meta"]["total"], answer["meta"]["last_page"]) == ([own.name], 1, 1)


def test_the_total_follows_additions_and_removals(sixty: Tenant) -> None:
    WorkspaceFactory.create(agency=sixty.agency)
    Workspace.objects.filter(agency=sixty.agency, name="Crowd 7").delete()
    assert sixty.api.get("/workspaces").json()["meta"]["total"] == 60


def test_a_page_costs_two_statements_and_a_filter_one_more(sixty: Tenant, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        sixty.api.get("/workspaces?page=2")
    with django_assert_num_queries(3):
        sixty.api.get("/workspaces?search=crowd&status=active")


def test_a_row_without_a_plan_says_null(a: Tenant) -> None:
    WorkspaceFactory.create(agency=a.agency, plan=None)
    WorkspaceFactory.create(agency=a.agency, plan=PlanFactory.create(agency=a.agency, name="Growth"))
    plans = [
        sub_account["plan"] and sub_account["plan"]["name"] for sub_account in a.api.get("/workspaces").json()["data"]
    ]
    assert plans == ["Growth", None]
