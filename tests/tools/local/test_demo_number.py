"""The demo workspace's number, connected at the sandbox provider by each start."""

import io
from secrets import token_hex
from typing import Any

import pytest
from django.core.management import call_command
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ChannelCredential, MessageTemplate
from config.operations import demo_data
from tools.local.runner.demo_number import NUMBER, connect_demo_number
from tools.sandbox.config import DEVELOPMENT
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import disconnect_channel

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the demo data that take 700 statements."""
    monkeypatch.setattr(demo_data, "add_business", lambda *_: None)


@pytest.fixture
def start(settings: Any) -> Any:
    """Give what a start does after the migrations, with a secret that is new each time."""
    settings.META_APP_ID = DEVELOPMENT["META_APP_ID"]

    def start() -> Channel:
        settings.META_APP_SECRET = token_hex(16)
        call_command("bootstrap", "--json", stdout=io.StringIO())
        connect_demo_number(Workspace.objects.get())
        return Channel.objects.get()

    return start


def test_each_start_gives_it_an_access_that_this_starts_sandbox_takes(start: Any) -> None:
    channel = start()
    token = ChannelCredential.objects.get().token
    assert (channel.external_id, channel.status, channel.messaging_limit) == (NUMBER.id, "active", 2_000)
    assert MessageTemplate.objects.filter(name="summer_sale", status="approved").exists()
    assert start().connected_at == channel.connected_at
    assert ChannelCredential.objects.get().token != token


def test_one_whose_access_was_lost_comes_back_with_the_next_start(start: Any) -> None:
    start()
    Channel.objects.update(status=Channel.Status.ERROR)
    assert start().status == "active"


def test_one_that_somebody_has_disconnected_stays_so(start: Any) -> None:
    disconnect_channel(channel=start(), now=now(), by=SYSTEM)
    assert start().status == "disconnected"
    assert not ChannelCredential.objects.exists()


def test_with_a_real_provider_it_stays_as_it_is(start: Any, settings: Any) -> None:
    settings.META_APP_ID = "1002"
    call_command("bootstrap", "--json", stdout=io.StringIO())
    connect_demo_number(Workspace.objects.get())
    assert Channel.objects.get().external_id.startswith("demo-")
    assert not ChannelCredential.objects.exists()
