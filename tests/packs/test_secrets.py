"""Random flows full of secrets, through the API: none survives in the entry or in any answer."""

import json
from typing import Any

import pytest
from django.db import transaction
from django.utils.timezone import now
from hypothesis import HealthCheck, given
from hypothesis import settings as examples

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from packs.models import PackEntry
from packs.services import gallery_of, install_pack
from tests.factories import ChannelFactory, ContactFactory, ProductFactory, WorkspaceFactory
from tests.factories.flows import Flow
from tests.packs.client import PackClient, an_automation
from tests.sizes import size
from tests.tenants import Api, Tenant
from tests.workspaces.automations.flows.secrets import PLATFORM, SECRETS, a_value, field_at, flows
from tests.workspaces.automations.ready import make_ready
from tests.workspaces.conversations.sending import a_template
from workspaces.automations.flows.checks import problems_of
from workspaces.automations.services import NotReady, enable_automation, fill_slots, reasons_barred
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.slow

EVERYTHING = {"service", "availability", "booking_page", "payment", "contact", "template"}


class Undone(Exception):
    """Ends an example and takes back what it wrote."""


@given(made=flows(), name=SECRETS)
@examples(max_examples=size("secrets", "flows copied and installed"), suppress_health_check=list(HealthCheck))
def test_no_secret_reaches_another_customer(
    a: Tenant, packs: PackClient, copier: Api, settings: Any, made: tuple[Flow, set[str]], name: str
) -> None:
    settings.AGENCY_KEY_LIMIT = 10**6
    assert a.workspace.pk, "is made before what is undone"
    try:
        with transaction.atomic():
            copy_and_install(a, packs, copier, made[0], made[1] | {name}, name[:120])
            raise Undone
    except Undone:
        pass


def copy_and_install(a: Tenant, packs: PackClient, copier: Api, flow: Flow, secrets: set[str], name: str) -> None:
    automation = an_automation(a.workspace, name=name, flow=flow, platform=PLATFORM)
    pack = packs.new()
    query = f"workspace={a.workspace.uuid}&automation={automation.uuid}"
    activities_before = ActivityEntry.objects.count()
    seen: list[Any] = [copier.get(f"/packs/import/preview?{query}").json()]
    body = {"workspace": str(a.workspace.uuid), "automation": str(automation.uuid)}
    seen.append(copier.post(f"/packs/{pack}/entries", body).json())
    assert seen[0]["data"]["refusals"] == []
    seen += [packs.change(pack, status="published"), packs.read(pack), packs.all()]
    seen += list(PackEntry.objects.values())
    seen += list(ActivityEntry.objects.order_by("id").values()[activities_before:])

    customer = WorkspaceFactory.create(agency=a.agency)
    channel = ChannelFactory.create(workspace=customer, platform=PLATFORM)
    a_template(channel)
    seen.append(str(gallery_of(workspace=customer)[0]))
    (installed,) = install_pack(workspace=customer, pack=PackEntry.objects.get().pack.uuid, now=now(), by=SYSTEM).added
    seen += [installed.name, installed.draft, installed.slots]
    written = json.dumps(seen, ensure_ascii=False, default=str)
    assert [secret for secret in secrets if secret in written] == []

    values = {(slot["node"], slot["path"]): a_value(field_at(installed.draft, slot)) for slot in installed.slots}
    if values:
        installed = fill_slots(automation=installed, values=values, now=now(), by=SYSTEM)
    assert installed.published is not None
    assert problems_of(installed.published.flow, platform=PLATFORM) == []
    ProductFactory.create(workspace=customer)
    ContactFactory.create(workspace=customer)
    make_ready(customer, *EVERYTHING)
    links = dict.fromkeys(("booking_link", "review_link"), "https://corner-salon.example/")
    Workspace.objects.filter(pk=customer.pk).update(**links)
    installed.workspace.refresh_from_db()
    if reasons_barred(installed):
        with pytest.raises(NotReady):
            enable_automation(automation=installed, now=now(), by=SYSTEM)
    else:
        assert enable_automation(automation=installed, now=now(), by=SYSTEM).enabled is True
