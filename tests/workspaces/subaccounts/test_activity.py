"""Beside each change, who made it: an entry of the activity with the caller's key."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Plan
from tests.factories import PlanFactory, a_workspace_key
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.services import revoke_workspace_key


def another_plan(tenant: Tenant) -> Plan:
    plan: Plan = PlanFactory.create(agency=tenant.agency)
    return plan


CHANGES: dict[str, tuple[str, Callable[[Tenant], Any]]] = {
    "renaming": ("workspace.changed", lambda a: a.api.patch(a.path, {"name": "Renamed"}, x_request_id="call-7")),
    "suspending": (
        "workspace.suspended",
        lambda a: a.api.post(f"{a.path}/suspend", {"reason": "Unpaid"}, x_request_id="call-7"),
    ),
    "assigning a plan": (
        "plan.assigned",
        lambda a: a.api.put(f"{a.path}/plan", {"plan": str(another_plan(a).uuid)}, x_request_id="call-7"),
    ),
    "granting": (
        "addon.granted",
        lambda a: a.api.post(f"{a.path}/addons", {"addon": str(a.addon.uuid)}, x_request_id="call-7"),
    ),
}


def entry(action: str) -> ActivityEntry:
    return ActivityEntry.objects.get(action=action)


@pytest.mark.parametrize(("action", "change"), CHANGES.values(), ids=CHANGES.keys())
def test_each_change_has_an_entry_with_key_address_and_request(
    a: Tenant, action: str, change: Callable[[Tenant], Any]
) -> None:
    uuid = a.workspace.uuid
    assert change(a).status_code in (200, 201)
    row = entry(action)
    assert (row.actor_kind, row.actor_id, row.actor_label) == ("agency_key", str(a.key.uuid), a.key.name)
    assert (row.address, row.request_id) == (a.api.address, "call-7")
    assert (row.agency_id, row.workspace_uuid) == (a.agency.pk, uuid)
    assert (row.target_kind, row.target_id) == ("workspace", str(uuid))
    assert abs((now() - row.at).total_seconds()) < 60


def test_a_caller_without_an_address_is_recorded_without_one(a: Tenant) -> None:
    """A server that listens on a socket of the file system knows no address."""
    a.api.address = ""
    a.api.patch(a.path, {"name": "Renamed"})
    assert entry("workspace.changed").address == ""


def test_creation_is_recorded_with_the_sub_account(a: Tenant) -> None:
    sub_account = a.api.post("/workspaces", a_new_customer()).json()["data"]
    row = entry("workspace.created")
    assert (row.target_id, row.target_name, row.actor_kind) == (sub_account["uuid"], sub_account["name"], "agency_key")


def test_a_change_says_from_what_to_what(a: Tenant) -> None:
    a.api.patch(a.path, {"name": "Renamed", "timezone": "Asia/Tokyo"})
    assert entry("workspace.changed").changes == {
        "name": [a.workspace.name, "Renamed"],
        "timezone": ["UTC", "Asia/Tokyo"],
    }


def test_a_suspension_keeps_its_reason(a: Tenant) -> None:
    a.api.post(f"{a.path}/suspend", {"reason": "Unpaid"})
    a.api.post(f"{a.path}/restore")
    assert entry("workspace.suspended").details == {"reason": "Unpaid"}
    assert entry("workspace.restored").actor_id == str(a.key.uuid)


def test_a_plan_says_which_it_was_and_which_it_is(a: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, name="New")
    a.api.put(f"{a.path}/plan", {"plan": str(plan.uuid)})
    assert entry("plan.assigned").details == {"plan": {"uuid": str(plan.uuid), "name": "New"}}
    assert entry("plan.assigned").changes["plan"] == [a.plan.name, "New"]


def test_addons_are_named(a: Tenant) -> None:
    a.api.post(f"{a.path}/addons", {"addon": str(a.addon.uuid)})
    a.api.delete(f"{a.path}/addons/{a.addon.uuid}")
    for action in ("addon.granted", "addon.revoked"):
        assert entry(action).details == {"addon": {"uuid": str(a.addon.uuid), "name": a.addon.name}}


def test_reading_and_what_changes_nothing_leave_no_entry(a: Tenant) -> None:
    path = a.path
    before = ActivityEntry.objects.count()
    for method, where in (("GET", ""), ("GET", "/addons"), ("POST", "/restore"), ("PATCH", "")):
        a.api.call(method, f"{path}{where}", {})
    assert ActivityEntry.objects.count() == before


def test_a_key_of_a_workspace_is_recorded_without_the_key(a: Tenant) -> None:
    key, plaintext = a_workspace_key(a.workspace, name="Shop")
    issued = entry("workspace_key.created")
    assert (issued.workspace_uuid, issued.details) == (a.workspace.uuid, {"prefix": plaintext[:12]})
    assert revoke_workspace_key(key=key, now=now(), by=SYSTEM)
    assert not revoke_workspace_key(key=key, now=now(), by=SYSTEM)
    revoked = entry("workspace_key.revoked")
    assert (revoked.target_kind, revoked.target_id, revoked.target_name) == ("workspace_key", str(key.uuid), "Shop")


def test_the_key_of_a_workspace_that_is_gone_can_still_be_revoked(a: Tenant) -> None:
    key, _ = a_workspace_key(a.workspace)
    a.workspace.delete()
    key.refresh_from_db()
    assert revoke_workspace_key(key=key, now=now(), by=SYSTEM)
    assert (entry("workspace_key.revoked").agency_id, entry("workspace_key.revoked").workspace_uuid) == (None, None)
