"""`PUT /workspaces/{workspace}/plan`: the plan's limits are copied onto the sub-account."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from agency.services import archive_item, update_item
from tests import furnished
from tests.database.traces import traces
from tests.factories import AddonFactory, PlanFactory, addon_limits, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer


def assign(tenant: Tenant, plan: Any) -> Any:
    return tenant.api.put(f"{tenant.path}/plan", {"plan": str(plan.uuid)})


def limits(tenant: Tenant) -> Any:
    return tenant.api.get(tenant.path).json()["data"]["limits"]


def test_a_plan_is_assigned_with_its_limits_and_one_event(a: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, name="Growth", limits=plan_limits(contacts=7, channels__sms=1))
    response = assign(a, plan)
    assert response.status_code == 200
    assert response.json()["data"]["plan"] == {"uuid": str(plan.uuid), "name": "Growth"}
    assert limits(a) == plan_limits(contacts=7, channels__sms=1)
    assert a.event_names() == ["workspace.created", "subscription.changed"]


def test_the_answer_is_the_sub_account(a: Tenant) -> None:
    detail = a.api.get(a.path).json()["data"]
    sub_account = assign(a, a.plan).json()["data"]
    assert sub_account == {name: detail[name] for name in sub_account}


def test_the_same_plan_again_copies_its_limits_again_and_sends_no_event(a: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=1))
    assign(a, plan)
    update_item(item=plan, limits=plan_limits(contacts=2), by=SYSTEM)
    assert limits(a) == plan_limits(contacts=1)
    events = a.event_names()
    assert assign(a, plan).status_code == 200
    assert limits(a) == plan_limits(contacts=2)
    assert a.event_names() == events


def test_editing_a_plan_changes_no_workspace_until_it_is_assigned_again(a: Tenant) -> None:
    before = limits(a)
    update_item(item=a.plan, limits=plan_limits(contacts=99_999), by=SYSTEM)
    assert limits(a) == before


def test_granting_after_a_plan_was_edited_adds_to_the_copy_held(a: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=10))
    assign(a, plan)
    update_item(item=plan, limits=plan_limits(contacts=1_000), by=SYSTEM)
    addon = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=5))
    a.api.post(f"{a.path}/addons", {"addon": str(addon.uuid)})
    assert limits(a) == plan_limits(contacts=15)


def test_addons_stay_on_top_of_the_new_plan(a: Tenant) -> None:
    addon = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=5))
    a.api.post(f"{a.path}/addons", {"addon": str(addon.uuid)})
    assign(a, PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=100)))
    assert limits(a) == plan_limits(contacts=105)


def test_a_suspended_sub_account_stays_suspended_and_the_event_says_so(a: Tenant) -> None:
    suspended = a.api.post(f"{a.path}/suspend", {"reason": "Unpaid"}).json()["data"]
    plan = PlanFactory.create(agency=a.agency)
    sub_account = assign(a, plan).json()["data"]
    assert (sub_account["status"], sub_account["suspended_at"]) == ("suspended", suspended["suspended_at"])
    assert Workspace.objects.get(pk=a.workspace.pk).suspension_reason == "Unpaid"
    assert a.events[-1]["data"]["workspace"]["status"] == "suspended"


def test_going_back_to_an_earlier_plan_is_a_change(a: Tenant) -> None:
    other = PlanFactory.create(agency=a.agency)
    assign(a, other)
    assign(a, a.plan)
    assert a.event_names() == ["workspace.created", "subscription.changed", "subscription.changed"]


def test_a_plan_that_is_archived_unknown_or_another_agency_s_is_404_and_leaves_nothing(a: Tenant, b: Tenant) -> None:
    archived, path = PlanFactory.create(agency=a.agency), a.path
    archive_item(item=archived, now=now(), by=SYSTEM)
    for uuid in (archived.uuid, b.plan.uuid, uuid4()):
        before = traces()
        response = a.api.put(f"{path}/plan", {"plan": str(uuid)})
        assert (response.status_code, response.json()) == (404, {"message": "Plan not found."})
        assert traces() == before


def test_archiving_takes_the_plan_from_nobody(a: Tenant) -> None:
    before = a.api.get(a.path).json()
    archive_item(item=a.plan, now=now(), by=SYSTEM)
    assert a.api.get(a.path).json() == before


@pytest.mark.parametrize("body", [{}, {"plan": None}, {"plan": ""}, {"plan": "growth"}, {"plan": 7}, {"plan": []}])
def test_a_body_without_a_plan_s_uuid_is_422(a: Tenant, body: dict[str, Any]) -> None:
    response = a.api.put(f"{a.path}/plan", body)
    assert (response.status_code, list(response.json()["errors"])) == (422, ["plan"])


def test_the_sub_account_is_looked_for_before_the_body_is_judged(a: Tenant, b: Tenant) -> None:
    response = a.api.put(f"{b.path}/plan", {})
    assert (response.status_code, response.json()) == (404, {"message": "Sub-account not found."})


def test_a_plan_s_uuid_may_be_in_upper_case(a: Tenant) -> None:
    assert a.api.put(f"{a.path}/plan", {"plan": str(a.plan.uuid).upper()}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_assignments_of_one_plan_are_one_event(a: Tenant) -> None:
    path, plan = a.path, PlanFactory.create(agency=a.agency)
    at_once(lambda _: a.api.put(f"{path}/plan", {"plan": str(plan.uuid)}).status_code, times=10)
    assert Event.objects.filter(name="subscription.changed").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_plan_and_addons_changed_at_once_end_with_the_sum_of_what_is_held(a: Tenant) -> None:
    path = a.path
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=1_000))
    addons = [AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=10**n)) for n in range(3)]
    calls = [lambda: a.api.put(f"{path}/plan", {"plan": str(plan.uuid)})] + [
        lambda addon=addon: a.api.post(f"{path}/addons", {"addon": str(addon.uuid)}) for addon in addons
    ]
    at_once(lambda number: calls[number]().status_code, times=4)
    assert limits(a) == plan_limits(contacts=1_111)
