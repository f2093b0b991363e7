"""The list's filters; an unknown value matches nothing, a malformed date is refused."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.factories import PlanFactory, WorkspaceFactory
from tests.tenants import Tenant


@pytest.fixture
def shop(a: Tenant) -> Tenant:
    """Four sub-accounts: a plain one, a suspended one, a salon and one on a plan."""
    WorkspaceFactory.create(agency=a.agency, name="Plain")
    gone = WorkspaceFactory.create(agency=a.agency, name="Gone")
    a.api.post(f"/workspaces/{gone.uuid}/suspend")
    WorkspaceFactory.create(agency=a.agency, name="Salon", business_type="salon_spa")
    WorkspaceFactory.create(agency=a.agency, name="Paying", plan=a.plan)
    return a


def listed(tenant: Tenant, query: str) -> list[str]:
    answer = tenant.api.get(f"/workspaces?{query}").json()
    assert answer["meta"]["total"] == len(answer["data"])
    return [sub_account["name"] for sub_account in answer["data"]]


def test_by_status(shop: Tenant) -> None:
    assert listed(shop, "status=active") == ["Paying", "Salon", "Plain"]
    assert listed(shop, "status=suspended") == ["Gone"]


def test_by_plan_in_any_case_of_the_uuid(shop: Tenant) -> None:
    assert listed(shop, f"plan={shop.plan.uuid}") == ["Paying"]
    assert listed(shop, f"plan={str(shop.plan.uuid).upper()}") == ["Paying"]


def test_by_business_type(shop: Tenant) -> None:
    assert listed(shop, "business_type=salon_spa") == ["Salon"]
    assert listed(shop, "business_type=other") == []


def test_filters_are_joined(shop: Tenant) -> None:
    assert listed(shop, "status=active&business_type=salon_spa&search=sal") == ["Salon"]
    assert listed(shop, "status=suspended&business_type=salon_spa") == []
    assert listed(shop, f"plan={shop.plan.uuid}&status=active&search=PAY") == ["Paying"]


def test_a_blank_filter_was_not_asked(shop: Tenant) -> None:
    assert len(listed(shop, "status=&plan=&business_type=&search=")) == 4


UNKNOWN: list[Callable[[], str]] = [
    lambda: "status=Active",
    lambda: "status=deleted",
    lambda: "status=active,suspended",
    lambda: "status=%00",
    lambda: f"plan={uuid4()}",
    lambda: "plan=zzz",
    lambda: "plan=null",
    lambda: "plan=1",
    lambda: f"plan={{{uuid4()}}}",
    lambda: f"plan={uuid4().hex}",
    lambda: "business_type=bakery",
    lambda: "business_type=SALON_SPA",
    lambda: "business_type=%ff",
]


@pytest.mark.parametrize("query", UNKNOWN)
def test_an_unknown_value_matches_nothing(shop: Tenant, query: Callable[[], str]) -> None:
    response = shop.api.get(f"/workspaces?{query()}&page=3&per_page=7")
    answer = response.json()
    assert (response.status_code, answer["data"]) == (200, [])
    assert answer["meta"] == {
        "current_page": 3, "from": None, "to": None, "per_page": 7, "last_page": 1, "total": 0,
    }  # fmt: skip


def test_a_plan_of_another_agency_matches_nothing(shop: Tenant, b: Tenant) -> None:
    WorkspaceFactory.create(agency=b.agency, plan=b.plan)
    assert listed(shop, f"plan={b.plan.uuid}") == []


def test_a_plan_nobody_is_on_matches_nothing(shop: Tenant) -> None:
    assert listed(shop, f"plan={PlanFactory.create(agency=shop.agency).uuid}") == []


def test_pages_of_a_filter_past_the_middle_keep_the_order(a: Tenant) -> None:
    for number in range(7):
        WorkspaceFactory.create(agency=a.agency, name=f"W{number}", business_type="other")
        WorkspaceFactory.create(agency=a.agency, name=f"X{number}")
    pages = [
        [
            sub_account["name"]
            for sub_account in a.api.get(f"/workspaces?business_type=other&per_page=2&page={page}").json()["data"]
        ]
        for page in range(1, 5)
    ]
    assert pages == [["W6", "W5"], ["W4", "W3"], ["W2", "W1"], ["W0"]]


def test_by_the_owner_s_e_mail_in_any_case(shop: Tenant) -> None:
    WorkspaceFactory.create(agency=shop.agency, name="Ada's", owner_email="Ada@Example.com")
    assert listed(shop, "owner_email=ADA@example.COM") == ["Ada's"]
    assert listed(shop, "owner_email=ada@example") == listed(shop, "owner_email=%00") == []


DAY = datetime(2026, 3, 1, tzinfo=UTC)
ALL_DAYS = ["Day 3", "Day 2", "Day 1"]
NO_TIMES = [
    "yesterday",
    "2026-03-01",
    "2026-03-01T00:00:00",
    "2026-02-30T00:00:00Z",
    "2026-03-01T25:00:00Z",
    "1e9",
    "17",
]


@pytest.fixture
def days(a: Tenant) -> Tenant:
    """Three sub-accounts of three days, each made as its day begins."""
    for number in range(1, 4):
        WorkspaceFactory.create(agency=a.agency, name=f"Day {number}", now=DAY.replace(day=number))
    return a


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("created_after=2026-03-02T00:00:00Z", ["Day 3", "Day 2"]),
        ("created_after=2026-03-02T01:00:00%2B01:00", ["Day 3", "Day 2"]),
        ("created_after=2026-03-02T00:00:00.000001Z", ["Day 3"]),
        ("created_before=2026-03-02T00:00:00Z", ["Day 1"]),
        ("created_after=2026-03-02T00:00:00Z&created_before=2026-03-03T00:00:00Z", ["Day 2"]),
        ("created_after=2026-03-03T00:00:00Z&created_before=2026-03-01T00:00:00Z", []),
        ("created_after=0001-01-02T14:00:00%2B14:00&created_before=9999-12-30T09:59:59-14:00", ALL_DAYS),
        ("created_after=&created_before=", ALL_DAYS),
    ],
)
def test_by_the_time_of_creation_from_one_until_before_the_other(days: Tenant, query: str, names: list[str]) -> None:
    assert listed(days, query) == names


@pytest.mark.parametrize("name", ["created_after", "created_before"])
@pytest.mark.parametrize("date", NO_TIMES)
def test_a_malformed_date_is_refused_at_its_parameter(days: Tenant, name: str, date: str) -> None:
    response = days.api.get(f"/workspaces?{name}={date}&status=active")
    sentence = f"The {name} parameter must be an ISO 8601 time with an offset."
    assert (response.status_code, response.json()) == (422, {"message": sentence, "errors": {name: [sentence]}})


def test_the_time_that_a_card_shows_finds_its_sub_account(days: Tenant) -> None:
    created_at = days.api.get("/workspaces").json()["data"][0]["created_at"]
    assert listed(days, f"created_after={created_at}") == ["Day 3"]
    assert listed(days, f"created_before={created_at}") == ["Day 2", "Day 1"]
    later = (DAY + timedelta(days=5)).isoformat().replace("+", "%2B")
    assert listed(days, f"created_after={later}") == []
