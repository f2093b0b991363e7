"""An inbox whose facts are applied by handlers of the tests, so that what is read can be seen alone.

And a sub-account with an automation that is on, and a channel of each kind.
"""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.channelconnect.inbox.applying import CREATE, DROP
from tests.channelconnect.inbox.notices import INSTAGRAM, NUMBER, PAGE
from tests.factories import ChannelFactory
from tests.factories.flows import a_flow
from tests.tenants import Tenant
from workspaces.automations.models import Automation
from workspaces.automations.services import create_automation, enable_automation, publish_automation
from workspaces.subaccounts.models import Channel


@pytest.fixture
def applied(db: None) -> Iterator[None]:
    """The table into which the handlers write."""
    with connection.cursor() as cursor:
        cursor.execute(CREATE)
    yield
    with connection.cursor() as cursor:
        cursor.execute(DROP)


@pytest.fixture
def number(a: Tenant) -> Channel:
    return ChannelFactory.create(workspace=a.workspace, external_id=NUMBER, starter_pack=False)


@pytest.fixture
def automation(a: Tenant, number: Channel) -> Automation:
    """An automation that is on."""
    made = create_automation(
        workspace=a.workspace, name="Greets", platform="whatsapp", flow=a_flow(), now=now(), by=SYSTEM
    )
    publish_automation(automation=made, now=now(), by=SYSTEM)
    return enable_automation(automation=made, now=now(), by=SYSTEM)


@pytest.fixture
def channels(a: Tenant, automation: Automation) -> dict[str, Channel]:
    """A Page and an Instagram account beside the number."""
    made = {"facebook": PAGE, "instagram": INSTAGRAM}
    return {
        platform: ChannelFactory.create(workspace=a.workspace, platform=platform, external_id=account)
        for platform, account in made.items()
    }
