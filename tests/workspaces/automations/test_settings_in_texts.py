"""What a workspace says of itself in its automations' texts: shown to its owner, and asked for where it is needed."""

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.factories.flows import Flow, a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.flows.flow import SETTING_LABELS, settings_used, with_settings
from workspaces.automations.flows.privacy import KNOWN_VARIABLES
from workspaces.automations.models import Automation
from workspaces.automations.services import NotReady, enable_automation, reasons_not_ready
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace, settings_in_texts

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
NEEDED = [
    "Fill in the opening hours in the settings: step 1 needs it.",
    "Fill in the address in the settings: step 2 needs it.",
]


def hours_and_address() -> Flow:
    return a_flow(
        a_step(
            "hours", "send_text", {"next": "place"}, text="Hi {{contact.name}}, we open {{workspace.opening_hours}}"
        ),
        a_step("place", "send_text", text="at {{ workspace.address }}. {{workspace.name}}"),
    )


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    workspace = WorkspaceFactory.create(agency=a.agency, name="Corner Salon")
    ChannelFactory.create(workspace=workspace)
    Automation.objects.all().delete()
    return workspace


def test_what_is_not_set_is_asked_for_with_the_place_that_needs_it(customer: Workspace) -> None:
    automation = an_automation(customer, flow=hours_and_address())
    assert reasons_not_ready(automation) == NEEDED
    with pytest.raises(NotReady):
        enable_automation(automation=automation, now=now(), by=SYSTEM)
    page = text(dashboard_client(customer).get(f"/app/automations/{automation.uuid}"))
    assert NEEDED[0] in page
    assert "we open [opening hours]" in page
    assert "Fill in the settings" in page


def test_what_is_set_is_shown_and_asked_for_no_more(customer: Workspace) -> None:
    automation = an_automation(customer, flow=hours_and_address())
    hours = {"monday": [["09:00", "17:00"]]}
    change_workspace(workspace=customer, by=SYSTEM, opening_hours=hours, address="1 High Street")
    automation.workspace.refresh_from_db()
    assert reasons_not_ready(automation) == []
    page = text(dashboard_client(customer).get(f"/app/automations/{automation.uuid}"))
    assert "Hi {{contact.name}}, we open Mon 09:00\u201317:00" in page
    assert "at 1 High Street. Corner Salon" in page
    assert "Fill in the settings" not in page
    assert enable_automation(automation=automation, now=now(), by=SYSTEM).enabled


def test_every_variable_of_a_workspace_can_be_set_and_has_a_label(customer: Workspace) -> None:
    assert SETTING_LABELS.keys() | {"name"} == KNOWN_VARIABLES["workspace"] == settings_in_texts(customer).keys()


def test_texts_of_any_depth_are_read() -> None:
    buttons = [{"title": "{{workspace.phone}}"}]
    flow = a_flow(
        a_step("ask", "ask_buttons", text="Now?", buttons=buttons), trigger="tag_added", tag="{{workspace.email}}"
    )
    assert settings_used(flow) == {"phone": "step 1", "email": "the start"}


def test_only_settings_are_written_into_a_text() -> None:
    values = {"name": "Shop", "phone": ""}
    given = "{{workspace.name}} {{workspace.phone}} {{workspace.nothing}} {{contact.phone}} {{answers.phone}}"
    assert (
        with_settings(given, values) == "Shop [phone number] {{workspace.nothing}} {{contact.phone}} {{answers.phone}}"
    )
