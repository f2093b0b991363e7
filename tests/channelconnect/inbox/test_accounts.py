"""What callbacks tell about accounts: channels keep the limit and the quality that WhatsApp tells, and are lost."""

import time
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from channelconnect.models import ChannelCredential
from tests import furnished
from tests.channelconnect.inbox.notices import whatsapp
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.webhooks.workspaces import tenant_of
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import disconnect_channel, reconnect_channel

a = furnished.a_with_customer

TOPICS = ("channel.connected", "channel.error", "channel.disconnected", "channel.limit_changed")


@pytest.fixture
def number(a: Tenant) -> Channel:
    channel = ChannelFactory.create(workspace=a.workspace, handle="+1 555-010 0", starter_pack=False)
    ChannelCredential.objects.create(channel=channel, token="a token", container_id="2001")
    return channel


def shown(a: Tenant, channel: Channel) -> tuple[Any, ...]:
    data = a.workspace_api.get(f"/channels/{channel.uuid}").json()["data"]
    return data["messaging_limit"], data["quality"], data["remaining_allowance"]


def tell(field: str, *, at: int = 1, **value: Any) -> None:
    body = whatsapp(field, value).replace(b"1790000000", str(int(time.time()) + at).encode())
    assert store_notice(body=body)
    read_waiting()


def listen(a: Tenant) -> None:
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/x", events=list(TOPICS), by=SYSTEM)


def recorded_channels(a: Tenant) -> list[tuple[str, Any]]:
    rows = Event.objects.filter(workspace_id=a.workspace.pk).order_by("id")
    return [(row.name, orjson.loads(bytes(row.body))["data"]["channel"]) for row in rows]


def test_a_portfolio_s_limit_is_kept_with_its_numbers_and_no_other(a: Tenant, number: Channel) -> None:
    assert shown(a, number) == (None, "UNKNOWN", None)
    tell("business_capability_update", max_daily_conversations_per_business="TIER_10K")
    assert shown(a, number) == (10_000, "UNKNOWN", 10_000)
    assert shown(a, a.channel) == (None, "UNKNOWN", None)
    tell("business_capability_update", max_daily_conversation_per_phone=-1)
    assert shown(a, number) == (None, "UNKNOWN", None)


def test_what_comes_after_something_newer_changes_nothing(a: Tenant, number: Channel) -> None:
    """By the provider's own times: callbacks come in any order, and those that failed are sent again for days."""
    yesterday = now() - timedelta(days=1)
    Channel.objects.filter(pk=number.pk).update(
        connected_at=yesterday, limit_told_at=yesterday, quality_told_at=yesterday
    )
    quality = {"display_phone_number": "15550100"}
    tell("business_capability_update", at=-100, max_daily_conversation_per_phone=250)
    tell("business_capability_update", at=-200, max_daily_conversation_per_phone=10_000)
    tell("phone_number_quality_update", at=-60, event="FLAGGED", **quality)
    tell("phone_number_quality_update", at=-70, event="UNFLAGGED", current_limit="TIER_1K", **quality)
    assert shown(a, number) == (1_000, "RED", 1_000)
    tell("phone_number_quality_update", at=-70, event="UNFLAGGED", current_limit="TIER_2K", **quality)
    tell("business_capability_update", at=-80, max_daily_conversation_per_phone=50)
    assert shown(a, number) == (2_000, "RED", 2_000)


def test_what_is_dated_in_the_future_holds_only_until_something_newer_comes(a: Tenant, number: Channel) -> None:
    tell("business_capability_update", at=1_000_000_000, max_daily_conversation_per_phone=250)
    assert shown(a, number)[0] == 250
    tell("business_capability_update", at=60, max_daily_conversation_per_phone=1_000)
    assert shown(a, number)[0] == 1_000


def test_a_number_is_named_as_people_read_it(a: Tenant, number: Channel) -> None:
    sister = ChannelFactory.create(workspace=a.workspace, handle="+1 555 9999")
    ChannelCredential.objects.create(channel=sister, token="a token", container_id="2001")
    tell("phone_number_quality_update", display_phone_number="15550100", event="FLAGGED", current_limit="TIER_1K")
    assert (shown(a, number), shown(a, sister)) == ((1_000, "RED", 1_000), (None, "UNKNOWN", None))
    tell("phone_number_quality_update", display_phone_number="15550100", event="UNFLAGGED")
    assert shown(a, number) == (1_000, "YELLOW", 1_000)
    tell("phone_number_quality_update", display_phone_number="", event="FLAGGED", current_limit="TIER_250")
    assert shown(a, number) == (1_000, "YELLOW", 1_000)


def test_what_was_told_before_the_connection_says_nothing(a: Tenant, number: Channel) -> None:
    old = whatsapp("business_capability_update", {"max_daily_conversation_per_phone": 250})
    store_notice(body=old.replace(b"1790000000", b"1700000000"))
    read_waiting()
    assert shown(a, number) == (None, "UNKNOWN", None)


def test_other_platforms_have_no_limit_and_no_quality(a: Tenant) -> None:
    page = ChannelFactory.create(workspace=a.workspace, platform="facebook")
    assert shown(a, page) == (None, None, None)


def test_a_workspace_s_webhooks_hear_of_its_channels(a: Tenant, number: Channel) -> None:
    listen(a)
    tell("business_capability_update", max_daily_conversation_per_phone=250)
    tell("business_capability_update", max_daily_conversation_per_phone=250, again=True)
    limited = a.workspace_api.get(f"/channels/{number.uuid}").json()["data"]
    tell("account_update", event="PARTNER_REMOVED")
    lost = a.workspace_api.get(f"/channels/{number.uuid}").json()["data"]
    disconnect_channel(channel=number, now=now(), by=SYSTEM)
    gone = a.workspace_api.get(f"/channels/{number.uuid}").json()["data"]
    reconnect_channel(
        channel=number, name="Back", handle="+1", messaging_limit=50, quality="GREEN", now=now(), by=SYSTEM
    )
    back = a.workspace_api.get(f"/channels/{number.uuid}").json()["data"]
    assert recorded_channels(a) == [
        ("channel.limit_changed", limited),
        ("channel.error", lost),
        ("channel.disconnected", gone),
        ("channel.connected", back),
    ]
    assert (limited["messaging_limit"], lost["status"], gone["status"]) == (250, "error", "disconnected")
    assert (back["quality"], back["remaining_allowance"]) == ("GREEN", 50)


def test_nothing_is_recorded_while_nobody_listens(a: Tenant, number: Channel) -> None:
    tell("business_capability_update", max_daily_conversation_per_phone=250)
    disconnect_channel(channel=number, now=now(), by=SYSTEM)
    assert recorded_channels(a) == []


def test_a_number_that_was_raised_to_high_throughput_sends_faster_from_then_on(a: Tenant, number: Channel) -> None:
    tell("phone_number_quality_update", display_phone_number="15550100", event="THROUGHPUT_UPGRADE")
    assert ChannelCredential.objects.get(channel=number).throughput == "HIGH"
    tell("phone_number_quality_update", display_phone_number="15550100", event="FLAGGED")
    assert ChannelCredential.objects.get(channel=number).throughput == "HIGH"
    assert shown(a, number) == (None, "RED", None)
