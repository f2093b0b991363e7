"""Add-ons of a sub-account: granted, listed and revoked."""

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
from workspaces.subaccounts.models import HeldAddon

a, b = furnished.a_with_customer, furnished.b_with_customer

NOT_FOUND = {"message": "Add-on not found."}


def grant(tenant: Tenant, addon: Any) -> Any:
    return tenant.api.post(f"{tenant.path}/addons", {"addon": str(addon.uuid)})


def revoke(tenant: Tenant, addon: Any) -> Any:
    return tenant.api.delete(f"{tenant.path}/addons/{addon.uuid}")


def contacts(tenant: Tenant) -> Any:
    return tenant.api.get(tenant.path).json()["data"]["limits"]["contacts"]


def test_granting_is_201_with_the_addon_and_one_event(a: Tenant) -> None:
    response = grant(a, a.addon)
    assert response.status_code == 201
    assert [response.json()["data"]] == a.api.get("/addons").json()["data"]
    assert a.event_names() == ["workspace.created", "addon.granted"]


def test_already_granted_is_200_without_an_event(a: Tenant) -> None:
    first = grant(a, a.addon)
    before = traces()
    again = grant(a, a.addon)
    assert (again.status_code, again.json()) == (200, first.json())
    assert traces() == before


def test_the_addons_held_are_listed_in_the_order_of_granting(a: Tenant) -> None:
    addons = [AddonFactory.create(agency=a.agency) for _ in range(3)]
    assert a.api.get(f"{a.path}/addons").json() == {"data": []}
    for addon in reversed(addons):
        grant(a, addon)
    answer = a.api.get(f"{a.path}/addons").json()
    assert list(answer) == ["data"]
    assert [one["uuid"] for one in answer["data"]] == [str(addon.uuid) for addon in reversed(addons)]
    assert list(answer["data"][0]) == ["uuid", "name", "description", "limits"]


def test_revoking_answers_revoked_and_sends_one_event(a: Tenant) -> None:
    grant(a, a.addon)
    response = revoke(a, a.addon)
    assert (response.status_code, response.json()) == (200, {"data": {"revoked": True}})
    assert a.api.get(f"{a.path}/addons").json() == {"data": []}
    assert a.event_names() == ["workspace.created", "addon.granted", "addon.revoked"]


def test_revoking_what_is_not_granted_is_404_and_leaves_nothing(a: Tenant) -> None:
    addon, path = a.addon, a.path
    before = traces()
    response = a.api.delete(f"{path}/addons/{addon.uuid}")
    assert (response.status_code, response.json()) == (404, NOT_FOUND)
    assert traces() == before


def test_revoking_twice_is_404_the_second_time(a: Tenant) -> None:
    grant(a, a.addon)
    assert [revoke(a, a.addon).status_code for _ in range(2)] == [200, 404]


def test_limits_are_added_and_taken_away_again(a: Tenant) -> None:
    addon = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=5))
    before = contacts(a)
    grant(a, addon)
    assert contacts(a) == before + 5
    revoke(a, addon)
    assert contacts(a) == before


def test_an_addon_without_a_limit_lifts_it_and_its_end_brings_it_back(a: Tenant) -> None:
    addon = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=None))
    before = contacts(a)
    grant(a, addon)
    assert contacts(a) is None
    revoke(a, addon)
    assert contacts(a) == before


def test_a_number_on_top_of_no_limit_is_no_limit(a: Tenant) -> None:
    a.api.put(f"{a.path}/plan", {"plan": str(PlanFactory.create(agency=a.agency, limits=plan_limits()).uuid)})
    grant(a, a.addon)
    assert contacts(a) is None


def test_editing_an_addon_changes_no_workspace_that_holds_it(a: Tenant) -> None:
    """Neither at once, nor when another one is granted or revoked: each keeps its copy."""
    held = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=5))
    before = contacts(a)
    grant(a, held)
    update_item(item=held, limits=addon_limits(contacts=1_000_000), by=SYSTEM)
    assert contacts(a) == before + 5
    other = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=1))
    grant(a, other)
    assert contacts(a) == before + 6
    revoke(a, other)
    assert contacts(a) == before + 5


def test_revoking_and_granting_again_takes_the_new_limits(a: Tenant) -> None:
    addon = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=5))
    before = contacts(a)
    grant(a, addon)
    update_item(item=addon, limits=addon_limits(contacts=50), by=SYSTEM)
    revoke(a, addon)
    grant(a, addon)
    assert contacts(a) == before + 50


def test_an_archived_addon_can_be_revoked_but_no_longer_granted(a: Tenant) -> None:
    grant(a, a.addon)
    archive_item(item=a.addon, now=now(), by=SYSTEM)
    assert [one["uuid"] for one in a.api.get(f"{a.path}/addons").json()["data"]] == [str(a.addon.uuid)]
    assert revoke(a, a.addon).status_code == 200
    refused = grant(a, a.addon)
    assert (refused.status_code, refused.json()) == (404, NOT_FOUND)


def test_another_agency_s_addon_and_an_unknown_one_are_404_and_leave_nothing(a: Tenant, b: Tenant) -> None:
    path = a.path
    for uuid in (b.addon.uuid, uuid4()):
        before = traces()
        for response in (a.api.post(f"{path}/addons", {"addon": str(uuid)}), a.api.delete(f"{path}/addons/{uuid}")):
            assert (response.status_code, response.json()) == (404, NOT_FOUND)
        assert traces() == before


def test_an_addon_held_by_a_sister_sub_account_is_not_held_here(a: Tenant) -> None:
    grant(a, a.addon)
    sister = a.api.post("/workspaces", {"name": "Sister", "owner": {"name": "S", "email": "s@example.com"}}).json()
    path = f"/workspaces/{sister['data']['uuid']}/addons"
    assert a.api.get(path).json() == {"data": []}
    assert a.api.delete(f"{path}/{a.addon.uuid}").status_code == 404
    assert HeldAddon.objects.count() == 1


@pytest.mark.parametrize("body", [{}, {"addon": None}, {"addon": "x"}, {"addon": 1}, {"addons": []}])
def test_a_body_without_an_addon_s_uuid_is_422(a: Tenant, body: dict[str, Any]) -> None:
    response = a.api.post(f"{a.path}/addons", body)
    assert (response.status_code, list(response.json()["errors"])) == (422, ["addon"])


def test_addons_of_a_suspended_sub_account_change_and_it_stays_suspended(a: Tenant) -> None:
    a.api.post(f"{a.path}/suspend")
    assert grant(a, a.addon).status_code == 201
    assert revoke(a, a.addon).status_code == 200
    assert a.api.get(a.path).json()["data"]["status"] == "suspended"


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_grants_are_one_201_and_one_event(a: Tenant) -> None:
    path, addon = a.path, a.addon
    before = contacts(a)
    answers = at_once(lambda _: a.api.post(f"{path}/addons", {"addon": str(addon.uuid)}).status_code, times=10)
    assert sorted(answers) == [200] * 9 + [201]
    assert Event.objects.filter(name="addon.granted").count() == 1
    assert contacts(a) == before + 500


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_revocations_are_one_200_and_one_event(a: Tenant) -> None:
    grant(a, a.addon)
    address = f"{a.path}/addons/{a.addon.uuid}"
    answers = at_once(lambda _: a.api.delete(address).status_code, times=10)
    assert sorted(answers) == [200] + [404] * 9
    assert Event.objects.filter(name="addon.revoked").count() == 1


def test_an_addon_held_shows_the_limits_that_it_brought(a: Tenant) -> None:
    addon = AddonFactory.create(agency=a.agency, limits=addon_limits(contacts=100))
    assert grant(a, addon).json()["data"]["limits"]["contacts"] == 100
    a.api.patch(f"/addons/{addon.uuid}", {"limits": {"contacts": 500}})
    assert a.api.get("/addons").json()["data"][0]["limits"]["contacts"] == 500
    [held] = a.api.get(f"{a.path}/addons").json()["data"]
    again = grant(a, addon)
    assert (again.status_code, held["limits"]["contacts"], again.json()["data"]) == (200, 100, held)
