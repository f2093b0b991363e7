"""What a workspace's webhooks are told of its automations."""

import orjson
import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from tests.factories import ChannelFactory
from tests.factories.flows import a_catch_all
from tests.packs.client import an_automation
from tests.tenants import Tenant
from webhooks.services.endpoints import register_endpoint
from workspaces.automations.services import disable_automation, enable_automation, publish_automation
from workspaces.subaccounts.services import tenant_of

pytestmark = pytest.mark.django_db


def test_switching_an_automation_is_told_once_each_way(a: Tenant) -> None:
    ChannelFactory.create(workspace=a.workspace, platform="whatsapp")
    automation = an_automation(a.workspace, flow=a_catch_all(), name="Welcome")
    publish_automation(automation=automation, now=now(), by=SYSTEM)
    wanted = ["automation.enabled", "automation.disabled"]
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=wanted, by=SYSTEM)
    for change in (enable_automation, enable_automation, disable_automation, disable_automation):
        change(automation=automation, now=now(), by=SYSTEM)
    rows = Event.objects.filter(workspace_id=a.workspace.pk).order_by("id")
    told = [(row.name, orjson.loads(row.body)["data"]["automation"]) for row in rows]
    assert [(name, one["name"], one["enabled"]) for name, one in told] == [
        ("automation.enabled", "Welcome", True),
        ("automation.disabled", "Welcome", False),
    ]
    [listed] = [one for one in a.workspace_api.get("/automations").json()["data"] if one["name"] == "Welcome"]
    assert told[-1][1] == listed
