"""A sub-account's channels, on the agency surface and on its own."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.limits import CHANNEL_TYPES
from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ChannelFactory, PlanFactory, WorkspaceFactory, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import (
    AccountConnectedElsewhere,
    LimitReached,
    assign_plan,
    count_usage,
    mark_channel_lost,
    reconnect_channel,
)

pytestmark = pytest.mark.slow

a, b = furnished.a_with_customer, furnished.b_with_customer

GONE = {"message": "Channel not found."}


def shown(channel: Channel) -> dict[str, Any]:
    return {
        "id": str(channel.uuid),
        "platform": channel.platform,
        "name": channel.name,
        "status": channel.status,
        "handle": channel.handle,
        "connected_at": channel.connected_at.isoformat().replace("+00:00", "Z"),
    }


def limit(workspace: Workspace, **values: int | None) -> Workspace:
    plan = PlanFactory.create(agency=workspace.agency, limits=plan_limits(**values))
    return assign_plan(workspace=workspace, plan=plan, now=now(), by=SYSTEM)


def test_a_channel_has_id_platform_name_status_handle_and_time(a: Tenant) -> None:
    response = a.api.get(f"{a.path}/channels/{a.channel.uuid}")
    assert (response.status_code, response.json()) == (200, {"data": shown(a.channel)})
    assert list(response.json()["data"]) == ["id", "platform", "name", "status", "handle", "connected_at"]


def test_the_list_is_data_alone(a: Tenant) -> None:
    assert a.api.get(f"{a.path}/channels").json() == {"data": []}
    channels = [ChannelFactory.create(workspace=a.workspace) for _ in range(3)]
    assert a.api.get(f"{a.path}/channels?page=2&per_page=1").json() == {"data": [shown(one) for one in channels]}


@pytest.mark.parametrize("status", ["active", "error", "disconnected"])
def test_every_status_is_shown(a: Tenant, status: str) -> None:
    Channel.objects.filter(pk=a.channel.pk).update(status=status)
    assert a.api.get(f"{a.path}/channels/{a.channel.uuid}").json()["data"]["status"] == status


def test_a_channel_of_another_agency_of_a_sister_and_of_nobody_are_404(a: Tenant, b: Tenant) -> None:
    sister = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=a.agency))
    for uuid in (b.channel.uuid, sister.uuid, uuid4(), "x", "%00"):
        response = a.api.get(f"{a.path}/channels/{uuid}")
        assert (response.status_code, response.json()) == (404, GONE)


def test_a_channel_is_found_by_its_uuid_in_upper_case(a: Tenant) -> None:
    assert a.api.get(f"{a.path}/channels/{str(a.channel.uuid).upper()}").status_code == 200


def test_an_own_channel_below_another_agency_s_sub_account_is_404(a: Tenant, b: Tenant) -> None:
    response = a.api.get(f"{b.path}/channels/{a.channel.uuid}")
    assert (response.status_code, response.json()) == (404, {"message": "Sub-account not found."})


@pytest.mark.parametrize("platform", CHANNEL_TYPES)
def test_past_a_limit_the_write_is_refused_and_says_which(db: None, platform: str) -> None:
    workspace = limit(WorkspaceFactory.create(), **{f"channels__{platform}": 1})
    ChannelFactory.create(workspace=workspace, platform=platform)
    with pytest.raises(LimitReached) as refused:
        ChannelFactory.create(workspace=workspace, platform=platform)
    assert refused.value.name == f"channels.{platform}"
    assert refused.value.message.startswith("The plan of this sub-account allows 1 ")
    assert refused.value.errors == {f"channels.{platform}": [refused.value.message]}


def test_a_channel_of_another_type_still_fits(db: None) -> None:
    workspace = limit(WorkspaceFactory.create(), channels__sms=0)
    assert ChannelFactory.create(workspace=workspace, platform="telegram").pk
    with pytest.raises(LimitReached, match="0 SMS channels"):
        ChannelFactory.create(workspace=workspace, platform="sms")


def test_a_disconnected_channel_takes_no_room_and_frees_its_account(db: None) -> None:
    workspace = limit(WorkspaceFactory.create(), channels__whatsapp=1)
    first = ChannelFactory.create(workspace=workspace, external_id="account")
    Channel.objects.filter(pk=first.pk).update(status="disconnected")
    assert ChannelFactory.create(workspace=workspace, external_id="account").pk


def test_an_account_is_connected_to_one_workspace_of_the_whole_service(a: Tenant, b: Tenant) -> None:
    ChannelFactory.create(workspace=a.workspace, external_id="account")
    with pytest.raises(AccountConnectedElsewhere):
        ChannelFactory.create(workspace=b.workspace, external_id="account")
    assert ChannelFactory.create(workspace=b.workspace, platform="sms", external_id="account").pk


def test_usage_counts_connected_channels_and_the_owner(a: Tenant) -> None:
    ChannelFactory.create(workspace=a.workspace, platform="sms")
    gone = ChannelFactory.create(workspace=a.workspace, platform="sms")
    Channel.objects.filter(pk=gone.pk).update(status="disconnected")
    used = count_usage(a.workspace)
    assert (used["channels.sms"], used["channels.whatsapp"], used["team_members"]) == (1, 0, 1)


def test_connecting_is_in_the_activity(a: Tenant) -> None:
    assert a.channel.pk
    entry = ActivityEntry.objects.get(action="channel.connected")
    assert (entry.workspace_uuid, entry.details) == (a.workspace.uuid, {"platform": "whatsapp", "name": a.channel.name})


def test_a_channel_comes_back_under_its_new_name(a: Tenant) -> None:
    mark_channel_lost(channel=a.channel, reason="revoked", now=now(), by=SYSTEM)
    back = reconnect_channel(channel=a.channel, name="New name", handle="@new", now=now(), by=SYSTEM)
    a.channel.refresh_from_db()
    assert back == a.channel
    assert (a.channel.status, a.channel.name, a.channel.handle) == ("active", "New name", "@new")


def test_a_disconnected_channel_comes_back_only_where_there_is_room(db: None) -> None:
    workspace = limit(WorkspaceFactory.create(), channels__whatsapp=1)
    gone = ChannelFactory.create(workspace=workspace)
    Channel.objects.filter(pk=gone.pk).update(status="disconnected")
    ChannelFactory.create(workspace=workspace)
    with pytest.raises(LimitReached):
        reconnect_channel(channel=gone, name=gone.name, handle=gone.handle, now=now(), by=SYSTEM)


def test_a_disconnected_channel_whose_account_is_taken_stays_away(a: Tenant, b: Tenant) -> None:
    Channel.objects.filter(pk=a.channel.pk).update(status="disconnected")
    ChannelFactory.create(workspace=b.workspace, external_id=a.channel.external_id)
    with pytest.raises(AccountConnectedElsewhere):
        reconnect_channel(channel=a.channel, name="Again", handle="@again", now=now(), by=SYSTEM)
    a.channel.refresh_from_db()
    assert (a.channel.status, a.channel.name == "Again") == ("disconnected", False)


@pytest.mark.parametrize(("status", "changes"), [("active", True), ("error", False), ("disconnected", False)])
def test_only_an_active_channel_is_lost_and_once(a: Tenant, status: str, changes: bool) -> None:
    Channel.objects.filter(pk=a.channel.pk).update(status=status)
    assert mark_channel_lost(channel=a.channel, reason="revoked", now=now(), by=SYSTEM) is changes
    assert not mark_channel_lost(channel=a.channel, reason="revoked", now=now(), by=SYSTEM)
    entries = ActivityEntry.objects.filter(action="channel.lost", workspace_uuid=a.workspace.uuid)
    assert entries.count() == changes
    a.channel.refresh_from_db()
    assert a.channel.status == ("error" if changes else status)


@pytest.mark.django_db(transaction=True)
def test_the_last_free_channel_is_given_to_exactly_one_of_ten() -> None:
    workspace = limit(WorkspaceFactory.create(), channels__whatsapp=3)

    def connect(number: int) -> str:
        try:
            ChannelFactory.create(workspace=workspace, external_id=f"raced-{number}")
        except LimitReached:
            return "refused"
        return "connected"

    assert sorted(at_once(connect, times=10)) == ["connected"] * 3 + ["refused"] * 7


@pytest.mark.django_db(transaction=True)
def test_one_account_wanted_by_ten_workspaces_at_once_goes_to_one() -> None:
    workspaces = [WorkspaceFactory.create() for _ in range(10)]

    def connect(number: int) -> str:
        try:
            ChannelFactory.create(workspace=workspaces[number], external_id="wanted")
        except AccountConnectedElsewhere:
            return "refused"
        return "connected"

    assert sorted(at_once(connect, times=10)) == ["connected"] + ["refused"] * 9
