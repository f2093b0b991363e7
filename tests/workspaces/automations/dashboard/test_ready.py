"""Switching on all automations that are ready, at once."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories.flows import a_catch_all, a_link_to_book
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import agency_client
from webhooks.services.endpoints import register_endpoint
from workspaces.automations.models import Automation
from workspaces.automations.services import enable_automation
from workspaces.automations.services.switching import ENABLED
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import tenant_of

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
PAGE = "/app/automations/ready"
BOOKING = a_link_to_book()


def send(owner: Client, *automations: Automation) -> Any:
    return owner.post(PAGE, {"automation": [str(one.uuid) for one in automations]}, follow=True)


def test_it_says_which_are_ready_which_are_not_and_why(owner: Client, customer: Workspace) -> None:
    an_automation(customer, name="Greeting")
    an_automation(customer, name="Prices")
    an_automation(customer, name="Booking", flow=BOOKING)
    enable_automation(automation=an_automation(customer, name="Running"), now=now(), by=SYSTEM)
    assert 'class="button primary" href="/app/automations/ready"' in owner.get("/app/automations").content.decode()
    shown = text(owner.get(PAGE))
    assert "2 are ready Prices WhatsApp Greeting WhatsApp Switch on Cancel" in shown
    assert "1 is not ready Booking This needs working hours. This needs a booking page. Fill in the booking" in shown
    assert "Running" not in shown


def test_one_action_switches_on_all_that_stay_ticked_with_one_event_each(owner: Client, customer: Workspace) -> None:
    url = "https://93.184.215.14/hooks"
    register_endpoint(tenant=tenant_of(customer), url=url, events=[ENABLED], by=SYSTEM)
    wanted = [an_automation(customer, name=f"Automation {number}") for number in range(3)]
    left, booking = an_automation(customer, name="Left"), an_automation(customer, name="Booking", flow=BOOKING)
    answer = send(owner, *wanted, booking)
    assert flashes(answer) == ["3 automations are on now."]
    on = Automation.objects.filter(enabled=True)
    assert set(on) == set(wanted)
    assert not Automation.objects.get(pk=left.pk).enabled
    entries = ActivityEntry.objects.filter(action="automation.switched_on", actor_label=customer.owner.email)
    assert {entry.target_id for entry in entries} == {str(one.uuid) for one in wanted}
    assert Event.objects.filter(name=ENABLED, workspace_id=customer.pk).count() == 3


def test_of_two_that_answer_the_same_one_is_on_and_the_other_refused(owner: Client, customer: Workspace) -> None:
    one, other = (an_automation(customer, name=name, flow=a_catch_all()) for name in ("One", "Other"))
    answer = send(owner, one, other)
    assert "answers the same on WhatsApp and is on" in flashes(answer)[0]
    assert flashes(answer)[1] == "1 automation is on now."
    assert Automation.objects.filter(enabled=True).count() == 1


def test_nothing_ticked_and_nothing_ready_are_said(owner: Client, customer: Workspace, b: Tenant) -> None:
    assert "Nothing is ready" in text(owner.get(PAGE))
    assert flashes(send(owner)) == ["Choose at least one automation."]
    foreign = an_automation(b.workspace)
    assert flashes(send(owner, foreign)) == ["Nothing was switched on."]
    assert not Automation.objects.filter(enabled=True).exists()


def test_whoever_may_only_look_sees_no_way_to_switch_on(customer: Workspace) -> None:
    an_automation(customer)
    viewer = agency_client(customer, "viewer")
    assert "Switch on all" not in text(viewer.get("/app/automations"))
    assert send(viewer, Automation.objects.get()).status_code == 403
    assert not Automation.objects.get().enabled


def test_the_page_costs_the_same_however_many_there_are(owner: Client, customer: Workspace) -> None:
    def queries() -> int:
        owner.get(PAGE)
        with CaptureQueriesContext(connection) as captured:
            owner.get(PAGE)
        return len(captured)

    an_automation(customer, flow=BOOKING)
    few = queries()
    for _ in range(10):
        an_automation(customer)
    assert queries() == few <= 11
