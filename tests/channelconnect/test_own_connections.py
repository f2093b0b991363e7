"""Customers connect channels themselves, where their agency lets them."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import time_machine
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, MailSettings, NotificationEvent
from agency.notification_kinds import sentence_of
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.creation import ReturnUrlNotRegistered, create_session, session_by_link
from channelconnect.services.settings import build_return_url, dashboard_return_url, let_customers_connect, settings_of
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client, member_client
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db
PAGE = "/app/channels/connect"
SETTINGS = "/console/configuration/channel-connect/return-urls"


@pytest.fixture
def owner(connecting: Tenant) -> Client:
    return dashboard_client(connecting.workspace)


@pytest.fixture
def allowed(connecting: Tenant) -> Tenant:
    let_customers_connect(agency=connecting.agency, allowed=True, by=SYSTEM)
    return connecting


def started(browser: Client, address: str = PAGE, **sent: str) -> ConnectSession:
    answer = browser.post(address, sent)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/connect/")
    assert browser.get(answer.headers["Location"]).status_code == 200
    session = session_by_link(answer.headers["Location"].removeprefix("/connect/"))
    assert session
    return session


def test_the_page_of_channels_names_the_agency_while_customers_may_not_connect(
    connecting: Tenant, owner: Client
) -> None:
    ask = f"To connect a channel, ask {connecting.agency.name}."
    assert ask in text(owner.get("/app/channels"))
    assert "E-mail:" not in text(owner.get("/app/channels"))
    MailSettings.objects.create(agency=connecting.agency, reply_to="help@agency.example")
    ChannelFactory.create(workspace=connecting.workspace)
    shown = owner.get("/app/channels")
    assert f"{ask} E-mail: help@agency.example" in text(shown)
    assert 'href="mailto:help@agency.example"' in shown.content.decode()
    assert PAGE not in shown.content.decode()
    assert (owner.get(PAGE).status_code, owner.post(PAGE, {"platform": "whatsapp"}).status_code) == (404, 404)
    assert not ConnectSession.objects.exists()


def test_people_ask_the_agency_for_a_channel_once_a_day(connecting: Tenant, owner: Client) -> None:
    name, ask = connecting.agency.name, "/app/channels/request"
    assert f"Ask {name}" in text(owner.get("/app/channels"))
    with time_machine.travel(now() - timedelta(days=1, minutes=1), tick=False):
        assert flashes(owner.post(ask, follow=True)) == [f"{name} was asked."]
        assert ask not in owner.get("/app/channels").content.decode()
        assert flashes(owner.post(ask, follow=True)) == ["The agency has been asked within the last 24 hours."]
    [event] = NotificationEvent.objects.filter(kind="sub_account.channel_requested")
    sentence = f"{connecting.workspace.name} asks you to connect a channel."
    assert sentence_of(event.kind, event.data) == sentence
    again = owner.get("/app/channels")
    assert (f"{name} was asked on " in text(again), ask in again.content.decode()) == (True, True)
    assert flashes(owner.post(ask, follow=True)) == [f"{name} was asked."]
    assert NotificationEvent.objects.filter(kind="sub_account.channel_requested").count() == 2
    assert ask not in agency_client(connecting.workspace, "viewer").get("/app/channels").content.decode()


def test_the_agency_lets_them_in_the_console(connecting: Tenant, owner: Client) -> None:
    admin = at_the_console(connecting.agency)
    kept = "\n".join(settings_of(connecting.agency).return_urls)
    answer = admin.post(SETTINGS, {"return_urls": kept, "customers_connect": "on"}, follow=True)
    assert flashes(answer) == ["The settings were saved."]
    assert ActivityEntry.objects.get(action="connect.customers_changed").changes == {"customers_connect": [False, True]}
    assert settings_of(connecting.agency).return_urls == [kept]
    assert f'href="{PAGE}"' in owner.get("/app/channels").content.decode()
    assert f'href="{PAGE}"' in owner.get("/app/").content.decode()
    assert "To connect a channel, ask" not in text(owner.get("/app/channels"))
    admin.post(SETTINGS, {"return_urls": kept})
    assert owner.get(PAGE).status_code == 404


def test_a_connection_leads_back_to_the_dashboard(allowed: Tenant, owner: Client) -> None:
    first = started(owner, platform="instagram")
    assert (first.platform, first.workspace, first.target) == ("instagram", allowed.workspace, None)
    assert build_return_url(first) == dashboard_return_url(allowed.agency.pk)
    assert started(owner, platform="instagram") == first
    assert started(member_client(allowed.workspace), platform="whatsapp") != first
    assert owner.post(PAGE, {"platform": "sms"}).status_code == 422
    assert agency_client(allowed.workspace, "viewer").post(PAGE, {"platform": "whatsapp"}).status_code == 403
    assert ConnectSession.objects.count() == 2


def test_a_broken_channel_is_connected_again_and_nobody_else_s(allowed: Tenant, b: Tenant, owner: Client) -> None:
    broken = ChannelFactory.create(workspace=allowed.workspace, name="Front desk")
    Channel.objects.filter(pk=broken.pk).update(status=Channel.Status.ERROR)
    ChannelFactory.create(workspace=allowed.workspace, name="Fine")
    shown = owner.get("/app/channels").content.decode()
    assert shown.count(f"{PAGE}?channel=") == 1
    address = f"{PAGE}?channel={broken.uuid}"
    assert "Reconnect Front desk" in text(owner.get(address))
    assert started(owner, address).target == broken
    others: list[UUID | str] = [b.channel.uuid, uuid4(), "x"]
    assert [owner.post(f"{PAGE}?channel={one}").status_code for one in others] == [404] * 3


def test_the_api_still_returns_to_registered_urls_alone(allowed: Tenant) -> None:
    url = dashboard_return_url(allowed.agency.pk)
    with pytest.raises(ReturnUrlNotRegistered):
        create_session(
            agency=allowed.agency,
            workspace=allowed.workspace,
            platform="whatsapp",
            return_url=url,
            now=now(),
            by=SYSTEM,
        )
