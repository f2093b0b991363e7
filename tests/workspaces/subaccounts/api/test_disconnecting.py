"""Disconnecting a channel: over the API, in the agency's console and in the customer's dashboard."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.factories import ChannelFactory, PlanFactory, WorkspaceFactory, plan_limits
from tests.packs.client import an_automation
from tests.parallel import at_once
from tests.tenants import Api, Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import assign_plan, count_usage, suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

GONE = {"message": "Channel not found."}


def path_of(tenant: Tenant, channel: Channel) -> str:
    return f"{tenant.path}/channels/{channel.uuid}"


def entries(tenant: Tenant) -> list[Any]:
    found = ActivityEntry.objects.filter(agency=tenant.agency, action="channel.disconnected")
    return list(found.values_list("actor_kind", "workspace_uuid", "details"))


@pytest.mark.parametrize("status", ["active", "error"])
def test_a_disconnected_channel_stays_as_a_row_and_is_answered_again_unchanged(a: Tenant, status: str) -> None:
    Channel.objects.filter(pk=a.channel.pk).update(status=status)
    before = a.api.get(path_of(a, a.channel)).json()["data"]
    first = a.api.delete(path_of(a, a.channel))
    again = a.api.delete(path_of(a, a.channel))
    assert (first.status_code, first.json()) == (200, {"data": {**before, "status": "disconnected"}})
    assert (again.status_code, again.content) == (200, first.content)
    details = {"platform": "whatsapp", "name": a.channel.name}
    assert entries(a) == [("agency_key", a.workspace.uuid, details)]
    for shown in (a.api.get(f"{a.path}/channels").json()["data"], a.api.get(a.path).json()["data"]["channels"]):
        assert shown == [first.json()["data"]]


def test_a_channel_of_somebody_else_or_of_nobody_is_404_and_stays(a: Tenant, b: Tenant) -> None:
    sister = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency))
    for uuid in (b.channel.uuid, sister.uuid, uuid4(), "x"):
        answer = a.api.delete(f"{a.path}/channels/{uuid}")
        assert (answer.status_code, answer.json()) == (404, GONE)
    answer = a.api.delete(f"{b.path}/channels/{b.channel.uuid}")
    assert (answer.status_code, answer.json()) == (404, {"message": "Sub-account not found."})
    assert not Channel.objects.filter(status="disconnected").exists()


def test_its_account_and_its_room_are_free_at_once(a: Tenant, b: Tenant) -> None:
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(channels__whatsapp=1))
    assign_plan(workspace=a.workspace, plan=plan, now=now(), by=SYSTEM)
    a.api.delete(path_of(a, a.channel))
    assert count_usage(a.workspace)["channels.whatsapp"] == 0
    assert ChannelFactory.create(workspace=a.workspace).pk
    assert ChannelFactory.create(workspace=b.workspace, external_id=a.channel.external_id).pk


def test_a_suspended_sub_account_s_channel_can_be_disconnected(a: Tenant) -> None:
    assert a.channel.pk
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    assert a.api.delete(path_of(a, a.channel)).json()["data"]["status"] == "disconnected"


def test_automations_stay_on_and_say_what_they_wait_for(a: Tenant) -> None:
    automation = an_automation(a.workspace)
    other = ChannelFactory.create(workspace=a.workspace)
    Automation.objects.filter(pk=automation.pk).update(enabled=True)
    page, customer = f"/app/automations/{automation.uuid}", dashboard_client(a.workspace)
    a.api.delete(path_of(a, a.channel))
    assert "Connect a WhatsApp channel first." not in text(customer.get(page))
    a.api.delete(path_of(a, other))
    automation.refresh_from_db()
    assert automation.enabled
    assert "It is on, but something is missing now" in text(customer.get(page))
    assert "Connect a WhatsApp channel first." in text(customer.get(page))
    assert "Waits: something is missing" in text(customer.get("/app/automations"))


def test_the_console_asks_first(a: Tenant) -> None:
    admin, viewer = at_the_console(a.agency, "admin"), at_the_console(a.agency, "viewer")
    here = f"/console/sub-accounts/{a.workspace.uuid}"
    question = f"{here}/channels/{a.channel.uuid}/disconnect"
    assert question in admin.get(here).content.decode()
    assert question not in viewer.get(here).content.decode()
    assert f"Disconnect {a.channel.name} from {a.workspace.name}?" in text(admin.get(question))
    assert not entries(a)
    for _ in range(2):
        answer = admin.post(question, follow=True)
        assert flashes(answer) == [f"{a.channel.name} of {a.workspace.name} is disconnected."]
    assert "Disconnected" in text(answer)
    assert question not in answer.content.decode()
    assert [kind for kind, *_ in entries(a)] == ["user"]


def test_the_dashboard_asks_first(a: Tenant) -> None:
    customer: Client = dashboard_client(a.workspace)
    question = f"/app/channels/{a.channel.uuid}/disconnect"
    assert question in customer.get("/app/channels").content.decode()
    assert f"Disconnect {a.channel.name}?" in text(customer.get(question))
    assert not entries(a)
    answer = customer.post(question, follow=True)
    assert flashes(answer) == [f"{a.channel.name} is disconnected."]
    assert "Disconnected" in text(answer)
    assert question not in answer.content.decode()
    assert customer.get(question)["Location"] == "/app/channels"
    assert [kind for kind, *_ in entries(a)] == ["user"]


@pytest.mark.django_db(transaction=True)
def test_disconnected_by_six_at_once_it_is_disconnected_once() -> None:
    tenant = Tenant()
    path, clients = path_of(tenant, tenant.channel), [Api(key=tenant.plaintext) for _ in range(6)]
    answers = at_once(lambda number: clients[number].delete(path), times=6)
    assert {(answer.status_code, answer.content) for answer in answers} == {(200, answers[0].content)}
    assert len(entries(tenant)) == 1
