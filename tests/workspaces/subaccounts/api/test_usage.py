"""`GET /workspaces/{workspace}/usage`: what is used of each limit."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agency.limits import CHANNEL_TYPES
from tests.factories import ChannelFactory, PlanFactory, WorkspaceFactory, plan_limits
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import UsageSource, usage_sources


def usage_of(tenant: Tenant) -> dict[str, Any]:
    return dict(tenant.api.get(f"{tenant.path}/usage").json()["data"])


def test_each_limit_stands_beside_what_is_used_of_it(a: Tenant) -> None:
    a.plan = PlanFactory.create(agency=a.agency, limits=plan_limits(contacts=100, channels__whatsapp=2))
    for number, platform in enumerate(("whatsapp", "whatsapp", "sms")):
        ChannelFactory.create(workspace=a.workspace, platform=platform, name=f"Channel {number}")
    ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency), platform="telegram")
    answer = a.api.get(f"{a.path}/usage").json()
    assert list(answer) == ["data"]
    used = answer["data"]
    assert list(used) == ["contacts", "team_members", "broadcasts_per_month", "channels"]
    assert used["contacts"] == {"used": 0, "limit": 100}
    assert used["team_members"] == {"used": 1, "limit": None}
    assert used["broadcasts_per_month"] == {"used": 0, "limit": None}
    assert list(used["channels"]) == list(CHANNEL_TYPES)
    assert used["channels"]["whatsapp"] == {"used": 2, "limit": 2}
    assert used["channels"]["sms"] == {"used": 1, "limit": None}
    assert used["channels"]["telegram"] == {"used": 0, "limit": None}


def test_a_disconnected_channel_takes_no_room(a: Tenant) -> None:
    channel = ChannelFactory.create(workspace=a.workspace, platform="whatsapp")
    channel.status = "disconnected"
    channel.save()
    assert usage_of(a)["channels"]["whatsapp"]["used"] == 0


@pytest.fixture
def _counting_contacts() -> Iterator[None]:
    def count(workspace: Workspace) -> Mapping[str, int]:
        return {"contacts": 7, "broadcasts_per_month": 2}

    usage_sources.add(UsageSource("test", count))
    yield
    del usage_sources._items["test"]


@pytest.mark.usefixtures("_counting_contacts")
def test_another_app_counts_what_is_its_own(a: Tenant) -> None:
    used = usage_of(a)
    assert (used["contacts"]["used"], used["broadcasts_per_month"]["used"]) == (7, 2)


def test_it_costs_the_same_however_much_is_used(a: Tenant, django_assert_num_queries: Any) -> None:
    for number in range(5):
        ChannelFactory.create(workspace=a.workspace, name=f"Channel {number}")
    path = a.path
    with django_assert_num_queries(6):  # the key's own, the sub-account, its channels, people, contacts and broadcasts
        a.api.get(f"{path}/usage")
