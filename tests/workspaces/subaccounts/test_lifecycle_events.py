"""The lifecycle rows of the events: their payloads to the letter, one for each change, none otherwise."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import Actor
from agency.models import ActivityEntry, Event, Mail, User
from agency.services import archive_item
from tests.factories import PlanFactory, WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.services import assign_plan, grant_addon, restore_workspace, revoke_addon, suspend_workspace

PERSON = Actor(kind="user", id="5", label="owner@example.com", address="127.0.0.1", request_id="r-5")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")


@pytest.fixture
def recorded(a: Tenant) -> Any:
    """Which events were recorded since the sub-account was there."""
    ready = (a.workspace, a.plan, a.addon)
    before = len(a.events)
    assert len(ready) == 3
    return lambda: a.events[before:]


def reference(item: Any) -> dict[str, str]:
    return {"uuid": str(item.uuid), "name": item.name}


def payload(tenant: Tenant, status: str = "active", plan: Any = None) -> dict[str, Any]:
    workspace = tenant.workspace
    return {
        "uuid": str(workspace.uuid),
        "name": workspace.name,
        "status": status,
        "plan": reference(plan or tenant.plan),
    }


def test_the_envelope_has_its_fields_and_no_more(a: Tenant, recorded: Any) -> None:
    before = now()
    a.api.post(f"{a.path}/suspend")
    (event,) = recorded()
    row = Event.objects.get(name="workspace.suspended")
    assert list(event) == ["id", "event", "occurred_at", "agency_id", "data"]
    assert UUID(event["id"]) == row.uuid
    assert (event["event"], event["agency_id"]) == ("workspace.suspended", a.agency.pk)
    assert type(event["agency_id"]) is int
    assert MOMENT.fullmatch(event["occurred_at"])
    assert before <= datetime.fromisoformat(event["occurred_at"]) == row.occurred_at <= now()
    assert (row.workspace_uuid, row.fanned_out_at) == (a.workspace.uuid, None)


def test_workspace_created(a: Tenant) -> None:
    sub_account = a.api.post("/workspaces", a_new_customer(plan=str(a.plan.uuid))).json()["data"]
    (event,) = a.events
    workspace = {"uuid": sub_account["uuid"], "name": "Corner Salon", "status": "active", "plan": reference(a.plan)}
    assert (event["event"], event["data"]) == ("workspace.created", {"workspace": workspace})
    assert event["occurred_at"] == sub_account["created_at"]


def test_workspace_created_without_a_plan_says_null(a: Tenant) -> None:
    a.api.post("/workspaces", a_new_customer())
    assert a.events[0]["data"]["workspace"]["plan"] is None


def test_workspace_suspended(a: Tenant, recorded: Any) -> None:
    sub_account = a.api.post(f"{a.path}/suspend").json()["data"]
    (event,) = recorded()
    assert (event["event"], event["data"]) == ("workspace.suspended", {"workspace": payload(a, "suspended")})
    assert event["occurred_at"] == sub_account["suspended_at"]


def test_workspace_restored(a: Tenant, recorded: Any) -> None:
    a.api.post(f"{a.path}/suspend")
    a.api.post(f"{a.path}/restore")
    assert (recorded()[1]["event"], recorded()[1]["data"]) == ("workspace.restored", {"workspace": payload(a)})


def test_subscription_changed_adds_the_new_plan(a: Tenant, recorded: Any) -> None:
    plan = PlanFactory.create(agency=a.agency, name="New")
    a.api.put(f"{a.path}/plan", {"plan": str(plan.uuid)})
    (event,) = recorded()
    assert event["event"] == "subscription.changed"
    assert event["data"] == {"workspace": payload(a, plan=plan), "plan": reference(plan)}


def test_addon_granted_and_revoked_add_the_addon(a: Tenant, recorded: Any) -> None:
    a.api.post(f"{a.path}/addons", {"addon": str(a.addon.uuid)})
    a.api.delete(f"{a.path}/addons/{a.addon.uuid}")
    data = {"workspace": payload(a), "addon": reference(a.addon)}
    assert [(event["event"], event["data"]) for event in recorded()] == [
        ("addon.granted", data),
        ("addon.revoked", data),
    ]


def test_a_renamed_sub_account_is_recorded_by_its_new_name(a: Tenant, recorded: Any) -> None:
    a.api.patch(a.path, {"name": "Ünïcode/☃"})
    a.api.post(f"{a.path}/suspend")
    assert recorded()[0]["data"]["workspace"]["name"] == "Ünïcode/☃"


def test_an_archived_plan_is_still_named(a: Tenant, recorded: Any) -> None:
    archive_item(item=a.plan, now=now(), by=PERSON)
    a.api.post(f"{a.path}/suspend")
    assert recorded()[0]["data"]["workspace"]["plan"] == reference(a.plan)


def test_a_whole_life_records_each_change_once_and_in_order(a: Tenant) -> None:
    path = f"/workspaces/{a.api.post('/workspaces', a_new_customer()).json()['data']['uuid']}"
    for _ in range(2):  # everything twice: what has been done already records nothing
        a.api.put(f"{path}/plan", {"plan": str(a.plan.uuid)})
    for _ in range(2):
        a.api.post(f"{path}/addons", {"addon": str(a.addon.uuid)})
    for action in ("suspend", "suspend", "restore", "restore"):
        a.api.post(f"{path}/{action}")
    for _ in range(2):
        a.api.delete(f"{path}/addons/{a.addon.uuid}")
    a.api.patch(path, {"name": "Renamed"})
    assert a.event_names() == [
        "workspace.created",
        "subscription.changed",
        "addon.granted",
        "workspace.suspended",
        "workspace.restored",
        "addon.revoked",
    ]
    assert len({event["id"] for event in a.events}) == 6


def test_events_belong_to_the_agency_of_the_sub_account(a: Tenant, b: Tenant) -> None:
    a.api.post("/workspaces", a_new_customer())
    assert (len(a.events), b.events) == (1, [])


def test_changes_made_by_people_are_recorded_like_those_made_over_the_api(a: Tenant) -> None:
    shop = WorkspaceFactory.create(agency=a.agency, by=PERSON)
    assign_plan(workspace=shop, plan=a.plan, now=now(), by=PERSON)
    grant_addon(workspace=shop, addon=a.addon, now=now(), by=PERSON)
    suspend_workspace(workspace=shop, reason="", now=now(), by=PERSON)
    restore_workspace(workspace=shop, now=now(), by=PERSON)
    revoke_addon(workspace=shop, addon=a.addon, now=now(), by=PERSON)
    assert a.event_names() == [
        "workspace.created",
        "subscription.changed",
        "addon.granted",
        "workspace.suspended",
        "workspace.restored",
        "addon.revoked",
    ]


CHANGES: dict[str, Callable[[Tenant], Any]] = {
    "creation": lambda a: a.api.post("/workspaces", a_new_customer()),
    "suspension": lambda a: a.api.post(f"{a.path}/suspend"),
    "plan": lambda a: a.api.put(f"{a.path}/plan", {"plan": str(PlanFactory.create(agency=a.agency).uuid)}),
    "addon": lambda a: a.api.post(f"{a.path}/addons", {"addon": str(a.addon.uuid)}),
}


@pytest.fixture
def close_outbox(a: Tenant) -> Iterator[Callable[[], None]]:
    """Let the outbox refuse every new row until the test ends."""
    close = "ALTER TABLE agency_event ADD CONSTRAINT nothing_more CHECK (id < 0) NOT VALID"

    def run(statement: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement)

    yield lambda: run(close)
    run("ALTER TABLE agency_event DROP CONSTRAINT nothing_more")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_that_cannot_be_recorded_does_not_happen(
    a: Tenant, change: Callable[[Tenant], Any], close_outbox: Callable[[], None]
) -> None:
    """The change of the same transaction is gone, and its entry, its owner and its e-mail with it."""
    before = a.api.get(a.path).content
    people, mails = User.objects.count(), Mail.objects.count()
    close_outbox()
    assert change(a).status_code == 409
    assert a.api.get(a.path).content == before
    assert a.event_names() == ["workspace.created"]
    assert (User.objects.count(), Mail.objects.count()) == (people, mails)
    assert not ActivityEntry.objects.exclude(actor_kind="system").exists()
    assert a.api.get("/workspaces").json()["meta"]["total"] == 1


@pytest.mark.django_db(transaction=True)
def test_an_event_always_names_the_plan_that_the_sub_account_is_on(a: Tenant) -> None:
    """Whoever waits for the row while its plan changes reads the plan after the wait, not before."""
    path = a.path
    plans = [PlanFactory.create(agency=a.agency) for _ in range(3)]

    def change(number: int) -> int:
        if number % 2:
            return int(a.api.post(f"{path}/{('suspend', 'restore')[number // 2 % 2]}").status_code)
        return int(a.api.put(f"{path}/plan", {"plan": str(plans[number % 3].uuid)}).status_code)

    assert set(at_once(change, times=18)) == {200}
    current = a.events[0]["data"]["workspace"]["plan"]
    for event in a.events[1:]:
        if event["event"] == "subscription.changed":
            assert event["data"]["plan"] != current
            current = event["data"]["plan"]
        assert event["data"]["workspace"]["plan"] == current
