"""From the secret link to a connected channel, over the sandbox's real HTTP."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils.timezone import now

from channelconnect.models import ChannelCredential, TemplateSync
from tests import furnished
from tests.channelconnect.agencies import a_session, connection_events
from tests.channelconnect.customer import Customer, outcome
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
