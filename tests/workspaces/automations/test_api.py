"""`GET /automations` and `GET /automations/{automation}` on the workspace surface."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ChannelFactory
from tests.factories.flows import a_flow, a_step
from tests.tenants import Tenant, message
from workspaces.automations.models import Automation
from workspaces.automations.services import create_automation, enable_automation, publish_automation
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

FIELDS = [
    "id", "name", "platform", "enabled", "trigger", "version", "published_at", "requires", "created_at", "updated_at",
]  # fmt: skip


def an_automation(workspace: Workspace, number: int = 0, *, platform: str = "whatsapp", **step: Any) -> Automation:
    flow = a_flow(a_step("x", "send_text", text="Hello"))
    at = now() + timedelta(seconds=number)
    return create_automation(workspace=workspace, name=f"No. {number}", platform=platform, flow=flow, now=at, by=SYSTEM)


def test_an_empty_list_has_data_links_and_meta(a: Tenant) -> None:
    answer = a.workspace_api.get("/automations").json()
    assert (list(answer), answer["data"], answer["meta"]["total"]) == (["data", "links", "meta"], [], 0)


def test_automations_come_newest_first_in_pages(a: Tenant, b: Tenant) -> None:
    an_automation(b.workspace)
    made = [an_automation(a.workspace, number) for number in range(5)]
    answer = a.workspace_api.get("/automations?limit=2&page=2").json()
    assert [row["name"] for row in answer["data"]] == ["No. 2", "No. 1"]
    assert (answer["meta"]["per_page"], answer["meta"]["total"], answer["meta"]["last_page"]) == (2, 5, 3)
    first = a.workspace_api.get("/automations").json()["data"][0]
    assert list(first) == FIELDS
    assert first["id"] == str(made[4].uuid)
    assert first["trigger"] == {"type": "keyword", "label": "A message with a keyword"}
    assert (first["version"], first["published_at"], first["enabled"]) == (None, None, False)


def test_automations_are_filtered(a: Tenant) -> None:
    on = publish_automation(automation=an_automation(a.workspace, 1), now=now(), by=SYSTEM)
    assert a.channel.platform == "whatsapp"
    enable_automation(automation=on, now=now(), by=SYSTEM)
    an_automation(a.workspace, 2, platform="telegram")

    def names(query: str) -> list[str]:
        return [row["name"] for row in a.workspace_api.get(f"/automations?{query}").json()["data"]]

    assert names("platform=telegram") == ["No. 2"]
    assert names("enabled=true") == ["No. 1"]
    assert names("enabled=false&platform=whatsapp") == []
    assert names("platform=pigeon") == names("enabled=perhaps") == []


def test_one_automation_shows_its_steps_and_what_is_missing(a: Tenant) -> None:
    automation = publish_automation(automation=an_automation(a.workspace), now=now(), by=SYSTEM)
    shown = a.workspace_api.get(f"/automations/{str(automation.uuid).upper()}").json()["data"]
    assert list(shown) == [*FIELDS, "steps", "missing", "warnings"]
    assert shown["steps"] == [{"id": "x", "type": "send_text", "label": "Send a text"}]
    assert shown["missing"] == ["Connect a WhatsApp channel first."]
    assert shown["version"] == 1
    ChannelFactory.create(workspace=a.workspace)
    assert a.workspace_api.get(f"/automations/{automation.uuid}").json()["data"]["missing"] == []


@pytest.mark.parametrize("which", ["foreign", "unknown", "malformed"])
def test_an_automation_that_is_not_there_is_404(a: Tenant, b: Tenant, which: str) -> None:
    foreign = an_automation(b.workspace)
    named = {"foreign": foreign.uuid, "unknown": uuid.uuid4(), "malformed": "x"}[which]
    answer = a.workspace_api.get(f"/automations/{named}")
    assert (answer.status_code, message(answer)) == (404, "Automation not found.")


def test_a_page_costs_the_same_however_many_there_are(a: Tenant) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert a.workspace_api.get("/automations").status_code == 200
        return len(queries)

    publish_automation(automation=an_automation(a.workspace), now=now(), by=SYSTEM)
    assert a.workspace_plaintext
    few = cost()
    for number in range(8):
        publish_automation(automation=an_automation(a.workspace, number), now=now(), by=SYSTEM)
    assert cost() == few <= 4
