"""An engine that runs for long sees at once what has changed, although it keeps triggers, flows and settings."""

import pytest

from tests import furnished
from tests.factories.flows import a_flow, a_step
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_engine import on, sent
from tests.workspaces.conversations.facts import moment, receive, received
from workspaces.automations.engine.loop import Engine
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db(transaction=True)
WHERE = a_flow(a_step("where", "send_text", text="We are at {{workspace.address}}."))


def test_an_engine_that_goes_on_uses_new_settings_and_triggers(a: Tenant) -> None:
    automation = on(a, WHERE)
    engine = Engine()
    engine.begin()

    def say(seconds: int) -> list[str]:
        receive(received(a.channel, text="hello", at=moment(seconds)))
        engine.run_turn()
        return sent()

    Workspace.objects.filter(pk=a.workspace.pk).update(address="Low Street 1")
    assert say(0) == ["We are at Low Street 1."]
    Workspace.objects.filter(pk=a.workspace.pk).update(address="High Street 2")
    assert say(1) == ["We are at Low Street 1.", "We are at High Street 2."]
    on(a, a_flow(a_step("late", "send_text", text="Good evening"), keywords=["hello"]), name="Another")
    Automation.objects.filter(pk=automation.pk).update(enabled=False)
    assert say(2)[2:] == ["Good evening"]
    engine.end()
