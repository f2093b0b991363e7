"""A pack's page shows what its automations did at the customers who installed them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.models import Pack
from packs.services import add_library_entry, change_pack, create_pack, install_pack
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.packs.small_library import WELCOME
from tests.tenants import Tenant
from workspaces.automations.models import Automation, AutomationCount, AutomationVersion

a, b = furnished.a, furnished.b
pytestmark = pytest.mark.django_db


def installed_at(tenant: Tenant, pack: Pack) -> Automation:
    """Install the pack at a new customer, and publish its automation."""
    workspace = WorkspaceFactory.create(agency=tenant.agency)
    ChannelFactory.create(workspace=workspace)
    install_pack(workspace=workspace, pack=pack.uuid, now=now(), by=SYSTEM)
    automation = workspace.automations.get(from_pack=pack.uuid)
    AutomationVersion.objects.create(automation=automation, number=9, flow=automation.draft)
    return automation


def count(automation: Automation, port: str, number: int, *, days_ago: int = 0, node: str = "") -> None:
    day = (now() - timedelta(days=days_ago)).date()
    version = automation.versions.get(number=9)
    AutomationCount.objects.create(automation=automation, version=version, day=day, node=node, port=port, number=number)


def test_a_pack_shows_what_its_automations_did_at_this_agency_s_customers(a: Tenant) -> None:
    pack = create_pack(agency=a.agency, name="Salon", by=SYSTEM)
    entry = add_library_entry(pack=pack, template_id=WELCOME, by=SYSTEM)
    change_pack(pack=pack, status="published", by=SYSTEM)
    browser = a_browser(a_member(a.agency, "viewer").user)
    address = f"/console/packs/{pack.uuid}"
    assert f"{entry.name} 0 0 0 0 0" in text(browser.get(address))
    first, second = installed_at(a, pack), installed_at(a, pack)
    for automation in (first, second):
        for port, number in (("started", 7), ("messages", 11), ("handed_over", 2), ("failed", 1)):
            count(automation, port, number)
    count(first, "started", 100, days_ago=30)
    count(first, "failed", 100, node="pay")
    with CaptureQueriesContext(connection) as few:
        shown = text(browser.get(address))
    assert f"{entry.name} 2 14 22 4 2" in shown
    assert "14 Runs" in shown
    installed_at(a, pack)
    with CaptureQueriesContext(connection) as many:
        browser.get(address)
    assert len(many) == len(few)
    entry.delete()
    add_library_entry(pack=pack, template_id=WELCOME, by=SYSTEM)
    assert "Removed from the pack 3 14 22 4 2" in text(browser.get(address))
