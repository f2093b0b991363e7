"""The plan that a new sub-account takes where none is named."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import unlimited
from agency.models import ActivityEntry, Plan
from agency.services import PlanIsDefault, PlanNotFound, archive_item, choose_default_plan, default_plan_of
from tests.agency.console.browsers import flashes, text
from tests.database.traces import traces
from tests.factories import PlanFactory
from tests.tenants import Tenant, a_new_customer, message
from workspaces.subaccounts.models import Workspace


@pytest.fixture
def default(a: Tenant) -> Plan:
    plan: Plan = PlanFactory.create(agency=a.agency, name="Usual")
    choose_default_plan(agency=a.agency, plan=plan, by=SYSTEM)
    return plan


def test_it_is_taken_where_none_is_named(a: Tenant, default: Plan) -> None:
    for body in (a_new_customer(), a_new_customer(plan=None)):
        created = a.api.post("/workspaces", body).json()["data"]
        assert created["plan"] == {"uuid": str(default.uuid), "name": "Usual"}
        assert a.api.get(f"/workspaces/{created['uuid']}").json()["data"]["limits"] == default.limits
    assert a.events[0]["data"]["workspace"]["plan"]["name"] == "Usual"


def test_a_plan_that_is_named_is_taken_all_the_same(a: Tenant, default: Plan) -> None:
    created = a.api.post("/workspaces", a_new_customer(plan=str(a.plan.uuid))).json()["data"]
    assert created["plan"]["uuid"] == str(a.plan.uuid)


def test_another_agency_s_default_is_its_own(b: Tenant, default: Plan) -> None:
    created = b.api.post("/workspaces", a_new_customer()).json()["data"]
    assert created["plan"] is None
    assert Workspace.objects.get().limits == unlimited()


def test_there_is_one_at_most_and_none_if_so_chosen(a: Tenant, default: Plan) -> None:
    choose_default_plan(agency=a.agency, plan=a.plan, by=SYSTEM)
    assert default_plan_of(a.agency) == a.plan
    choose_default_plan(agency=a.agency, plan=None, by=SYSTEM)
    assert default_plan_of(a.agency) is None
    entries = ActivityEntry.objects.filter(action="plan.default_chosen").order_by("id")
    assert [entry.changes["default_plan"] for entry in entries] == [
        [None, "Usual"],
        ["Usual", a.plan.name],
        [a.plan.name, None],
    ]


def test_the_default_plan_is_not_archived(a: Tenant, default: Plan) -> None:
    before = traces()
    refused = a.api.delete(f"/plans/{default.uuid}")
    assert (refused.status_code, message(refused)) == (409, PlanIsDefault.message)
    assert traces() == before
    choose_default_plan(agency=a.agency, plan=a.plan, by=SYSTEM)
    assert a.api.delete(f"/plans/{default.uuid}").status_code == 200


def test_neither_an_archived_plan_nor_another_agency_s_becomes_it(a: Tenant, b: Tenant, admin: Client) -> None:
    archived = PlanFactory.create(agency=a.agency)
    archive_item(item=archived, now=now(), by=SYSTEM)
    with pytest.raises(PlanNotFound):
        choose_default_plan(agency=a.agency, plan=archived, by=SYSTEM)
    for plan in (archived, b.plan):
        assert admin.post(f"/console/plans/{plan.uuid}/default").status_code == 404
    assert not Plan.objects.filter(is_default=True).exists()


def test_the_database_itself_holds_one_and_no_archived_one(a: Tenant, default: Plan) -> None:
    for plan, values in ((a.plan, {"is_default": True}), (default, {"archived_at": now()})):
        with pytest.raises(IntegrityError), transaction.atomic():
            Plan.objects.filter(pk=plan.pk).update(**values)


def test_it_is_chosen_and_shown_in_the_console(a: Tenant, admin: Client, viewer: Client) -> None:
    path = f"/console/plans/{a.plan.uuid}"
    assert "Make it the default" in text(admin.get(path))
    page = admin.post(f"{path}/default", {"default": "yes"}, follow=True)
    assert flashes(page) == [f"New sub-accounts get {a.plan.name}."]
    assert "New sub-accounts get this plan unless you name another." in text(page)
    assert f"{a.plan.name} Default" in text(viewer.get("/console/plans"))
    assert f"{a.plan.name} (default)" in text(admin.get("/console/sub-accounts/new"))
    assert "default</button>" not in viewer.get(path).content.decode()
    refused = admin.post(f"{path}/archive")
    assert PlanIsDefault.message in text(refused)
    again = admin.post(f"{path}/default", {"default": "no"}, follow=True)
    assert flashes(again) == [f"New sub-accounts no longer get {a.plan.name}."]
    assert "No plan: nothing is limited" in text(admin.get("/console/sub-accounts/new"))


def test_the_console_s_form_takes_it_where_none_is_chosen(a: Tenant, default: Plan, admin: Client) -> None:
    fields = {"name": "Corner", "owner_name": "Ada", "owner_email": "ada@example.com", "timezone": "UTC", "plan": ""}
    admin.post("/console/sub-accounts/new", fields)
    assert Workspace.objects.get().plan == default
