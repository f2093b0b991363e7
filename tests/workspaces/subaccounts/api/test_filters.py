"""`status`, `plan` and `business_type` of the list; an unknown value matches nothing."""

from collections.abc import Callable
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
