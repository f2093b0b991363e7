"""The list of automations: searched, sorted, and narrowed by state, channel and pack."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.services import change_pack, copy_automation, create_pack, install_pack
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.factories.flows import a_customers_flow
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation
from workspaces.automations.services import enable_automation
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
LIST = "/app/automations"


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """Somebody with one automation of a pack, which still asks for something, one that is on and one that is ready."""
    workspace = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=workspace)
    source = an_automation(a.workspace, flow=a_customers_flow(), name="Booking")
    pack = create_pack(agency=a.agency, name="Salon pack", by=SYSTEM)
    copy_automation(pack=pack, automation=source, by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    install_pack(workspace=workspace, pack=pack.uuid, now=now(), by=SYSTEM)
    enable_automation(automation=an_automation(workspace, name="Greeting"), now=now(), by=SYSTEM)
    an_automation(workspace, name="absent 100 %")
    for number, name in enumerate(("Booking", "Greeting", "absent 100 %")):
        at = now() - timedelta(days=number)
        workspace.automations.filter(name=name).update(created_at=at, updated_at=now() - timedelta(hours=3 - number))
    return workspace


@pytest.fixture
def owner(customer: Workspace) -> Client:
    return dashboard_client(customer)


def names(page: Any) -> list[str]:
    return re.findall(r'<a class="lead" href="/app/automations/[^"]*">([^<]*)<', page.content.decode())


def test_automations_are_narrowed_and_sorted(owner: Client, customer: Workspace) -> None:
    pack = customer.automations.get(name="Booking").from_pack
    everything = ["Booking", "Greeting", "absent 100 %"]
    for query, expected in (
        ("", everything),
        ("?sort=changed", everything),
        ("?sort=-changed", everything[::-1]),
        ("?sort=channel", everything),
        ("?search=GREET", ["Greeting"]),
        ("?search=%25", ["absent 100 %"]),
        ("?search=%00", []),
        ("?state=on", ["Greeting"]),
        ("?state=off", ["Booking", "absent 100 %"]),
        ("?state=ready", ["absent 100 %"]),
        ("?state=incomplete", ["Booking"]),
        ("?state=odd", everything),
        ("?channel=whatsapp", everything),
        ("?channel=sms", []),
        ("?channel=pigeon", []),
        (f"?pack={pack}", ["Booking"]),
        (f"?pack={pack}&state=ready", []),
        ("?pack=x", []),
    ):
        assert names(owner.get(LIST + query)) == expected, query
    assert names(owner.get(f"{LIST}?sort=name"))[::-1] == names(owner.get(f"{LIST}?sort=-name"))
    assert "No automation matches" in text(owner.get(f"{LIST}?channel=sms"))
    assert f'<option value="{pack}">Salon pack</option>' in owner.get(LIST).content.decode()


def test_a_pack_of_others_is_not_offered(owner: Client, b: Tenant) -> None:
    assert "Salon pack" not in text(dashboard_client(b.workspace).get(LIST))
    assert "Salon pack" in text(owner.get(LIST))


def test_pages_of_what_is_ready_stay_narrowed(owner: Client, customer: Workspace) -> None:
    made = [an_automation(customer, name=f"Off {number}") for number in range(30)]
    first, second = owner.get(f"{LIST}?state=ready"), owner.get(f"{LIST}?state=ready&page=2")
    assert (len(names(first)), len(names(second))) == (25, 6)
    assert {*names(first), *names(second)} == {"absent 100 %", *(one.name for one in made)}
    assert "26\u201331 of 31" in text(second)


def test_of_very_many_that_are_off_so_many_are_judged_and_the_number_says_so(
    owner: Client, customer: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workspaces.automations.dashboard.automations.MOST_JUDGED", 2)
    assert "1\u20131 of 1+" not in text(owner.get(f"{LIST}?state=ready"))
    an_automation(customer, name="Newest")
    assert names(owner.get(f"{LIST}?state=incomplete")) == ["Booking"]
    assert "1\u20131 of 1+" in text(owner.get(f"{LIST}?state=incomplete"))


def test_every_state_costs_the_same_however_long_the_list_is(owner: Client, customer: Workspace) -> None:
    def costs() -> list[int]:
        found = []
        for query in ("", "?state=on", "?state=ready"):
            with CaptureQueriesContext(connection) as asked:
                owner.get(LIST + query)
            found.append(len(asked))
        return found

    costs()
    few = costs()
    for number in range(10):
        an_automation(customer, name=f"More {number}")
    assert Automation.objects.filter(workspace=customer).count() == 13
    assert costs() == few
    # Two of them look for new versions of what comes from packs.
    assert max(few) <= 16
