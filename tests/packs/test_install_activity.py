"""What installs leave in the activity log: one entry for a pack, whatever it holds."""

from uuid import UUID

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from packs.library import library
from packs.services import install_pack
from tests.agency.console.browsers import at_the_console, text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.packs.client import PackClient
from tests.packs.small_library import extra
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db


def test_an_installed_pack_is_one_entry(a: Tenant, packs: PackClient) -> None:
    customer = WorkspaceFactory.create(agency=a.agency, name="Corner Salon")
    ChannelFactory.create(workspace=customer, platform="gbp")
    ChannelFactory.create(workspace=customer, platform="telegram")
    pack = packs.with_entries(extra(1), extra(2), extra(3), name="Bundle", status="published")
    before = ActivityEntry.objects.count()
    for _ in range(2):
        install_pack(workspace=customer, pack=UUID(pack), now=now(), by=SYSTEM)
    assert ActivityEntry.objects.count() == before + 1
    entry = ActivityEntry.objects.latest("id")
    assert (entry.action, entry.target_name, entry.workspace_uuid) == ("pack.installed", "Bundle", customer.uuid)
    console = at_the_console(a.agency)
    shown = text(console.get("/console/activity"))
    assert "Pack installed Automations: Extra 1, Extra 2, Extra 3 Sub-account: Corner Salon Bundle" in shown
    assert "Pack installed Bundle" in text(console.get(f"/console/sub-accounts/{customer.uuid}"))
    assert "Pack installed Bundle" in text(console.get("/console/"))


def test_so_is_the_starter_pack_whose_name_leads_nowhere(a: Tenant) -> None:
    customer = WorkspaceFactory.create(agency=a.agency, business_type="salon_spa")
    ChannelFactory.create(workspace=customer)
    entry = ActivityEntry.objects.get(action="pack.installed")
    starter = library().pack_for("salon_spa")
    assert starter
    assert entry.target_name == starter.name
    assert not ActivityEntry.objects.filter(action__startswith="automation.").exists()
    page = at_the_console(a.agency).get("/console/activity")
    assert f">{starter.name}</a>" not in page.content.decode()
