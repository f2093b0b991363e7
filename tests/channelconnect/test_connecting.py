"""From the secret link to a connected channel, over the sandbox's real HTTP."""

import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils.timezone import now

from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from channelconnect.models import ChannelCredential, TemplateSync
from tests import furnished
from tests.channelconnect.agencies import a_session, connection_events
from tests.channelconnect.customer import Customer, outcome
from tests.channelconnect.inbox.notices import whatsapp
from tests.tenants import Tenant
from workspaces.subaccounts.models import Channel

a = furnished.a_with_customer

PLATFORMS = ("whatsapp", "facebook", "instagram")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_customer_connects_an_account(connecting: Tenant, customer: Customer, platform: str) -> None:
    session = a_session(connecting, platform=platform, state="4711")
    page = customer.connect(session)
    assert page.status_code == 303
    assert outcome(session) == ("connected", None)
    channel = Channel.objects.get(platform=platform)
    assert (channel.workspace, channel.status) == (connecting.workspace, "active")
    assert connection_events(connecting) == ["channel.connection.completed"]
    assert connecting.events[-1]["data"]["channel_id"] == str(channel.uuid)
    credential = ChannelCredential.objects.get(channel=channel)
    assert credential.token
    assert credential.throughput == ("STANDARD" if channel.platform == "whatsapp" else "")
    listed = TemplateSync.objects.filter(container_id=credential.container_id, due_at__lte=now())
    assert listed.exists() is (platform == "whatsapp")
    query = parse_qs(urlsplit(customer.return_link or "").query)
    assert query == {"connection_id": [str(session.uuid)], "state": ["4711"]}


def tell_limit(container: str, limit: int, *, seconds: int) -> None:
    """Tell a limit of so many seconds from now, as WhatsApp's callback does."""
    value = {"max_daily_conversation_per_phone": limit}
    body = whatsapp("business_capability_update", value, container)
    assert store_notice(body=body.replace(b"1790000000", str(int(time.time()) + seconds).encode()))
    read_waiting()


def test_of_the_accounts_list_and_a_callback_the_newer_limit_counts(connecting: Tenant, customer: Customer) -> None:
    customer.connect(a_session(connecting, platform="whatsapp"))
    channel = Channel.objects.get(platform="whatsapp")
    listed, container = channel.messaging_limit, ChannelCredential.objects.get(channel=channel).container_id
    tell_limit(container, 77, seconds=-60)
    channel.refresh_from_db()
    assert channel.messaging_limit == listed

    customer.authorize(a_session(connecting, platform="whatsapp"))
    tell_limit(container, 88, seconds=0)
    customer.select(channel.external_id)
    channel.refresh_from_db()
    assert channel.messaging_limit == 88

    Channel.objects.filter(pk=channel.pk).update(limit_told_at=now() - timedelta(minutes=1))
    customer.connect(a_session(connecting, platform="whatsapp"))
    channel.refresh_from_db()
    assert channel.messaging_limit == listed
