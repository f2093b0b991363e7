"""The pack that a new customer is given with the first messaging channel: rules 5 and 6, once, in that transaction."""

from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.library import library
from packs.models import StarterPack
from packs.services import installs
from tests import furnished
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.packs.client import PackClient
from tests.packs.small_library import extra
from tests.tenants import Tenant
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import connect_channel

a, b = furnished.a_with_customer, furnished.b_with_customer


def a_customer(a: Tenant, business_type: str | None = "salon_spa") -> Workspace:
    return WorkspaceFactory.create(agency=a.agency, business_type=business_type)


def given(workspace: Workspace, platform: str = "whatsapp") -> str | None:
    """Connect a channel and name the pack that the customer's automations came from."""
    ChannelFactory.create(workspace=workspace, platform=platform)
    packs = set(Automation.objects.filter(workspace=workspace).values_list("from_pack", flat=True))
    assert len(packs) <= 1
    return str(packs.pop()) if packs else None


def own(kind: str) -> str:
    pack = library().pack_for(kind)
    assert pack
    return str(pack.uuid)


def for_type(packs: PackClient, kind: str | None, **fields: Any) -> str:
    return packs.with_entries(extra(1), business_type=kind, status="published", **fields)


def test_the_agencys_pack_for_the_business_type_is_given(a: Tenant, packs: PackClient) -> None:
    for_type(packs, "clinic_wellness")
    mine = for_type(packs, "salon_spa")
    assert given(a_customer(a)) == mine


def test_of_two_published_packs_of_a_type_the_higher_one_is_given(a: Tenant, packs: PackClient) -> None:
    low, high = for_type(packs, "salon_spa"), for_type(packs, "salon_spa")
    draft = packs.with_entries(extra(1), business_type="salon_spa")
    a.api.put("/packs/order", {"order": [draft, high, low]})
    assert given(a_customer(a)) == high


def test_a_pack_for_nobody_is_given_to_nobody(a: Tenant, packs: PackClient) -> None:
    for_type(packs, None)
    assert given(a_customer(a)) == own("salon_spa")


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_a_pack_that_is_not_published_is_not_given(a: Tenant, packs: PackClient, status: str) -> None:
    packs.with_entries(extra(1), business_type="salon_spa", status=status)
    assert given(a_customer(a)) == own("salon_spa")


def test_without_one_of_the_agency_the_services_own_for_the_type_is_given(
    a: Tenant, b: Tenant, packs: PackClient
) -> None:
    for_type(PackClient(b), "salon_spa")
    for_type(packs, "other")
    assert given(a_customer(a)) == own("salon_spa")


def test_replacing_gives_the_agencys_pack_for_the_type_else_its_other_pack(a: Tenant, packs: PackClient) -> None:
    a.api.put("/packs/visibility", {"replace_platform": True})
    mine, other = for_type(packs, "salon_spa"), for_type(packs, "other")
    assert given(a_customer(a)) == mine
    assert given(a_customer(a, "real_estate")) == other
    assert given(a_customer(a, None)) == other


def test_replacing_without_either_gives_nothing(a: Tenant, packs: PackClient) -> None:
    a.api.put("/packs/visibility", {"replace_platform": True})
    for_type(packs, "clinic_wellness")
    workspace = a_customer(a)
    assert given(workspace) is None
    assert StarterPack.objects.get(workspace=workspace).pack is None


def test_replacing_takes_effect_only_once_a_pack_is_published(a: Tenant, packs: PackClient) -> None:
    a.api.put("/packs/visibility", {"replace_platform": True})
    packs.with_entries(extra(1), business_type="salon_spa")
    assert given(a_customer(a)) == own("salon_spa")


def test_a_customer_who_named_no_type_counts_as_other(a: Tenant, packs: PackClient) -> None:
    assert given(a_customer(a, None)) == own("other")
    mine = for_type(packs, "other")
    assert given(a_customer(a, None)) == mine


def test_the_starter_pack_is_given_once(a: Tenant, packs: PackClient) -> None:
    workspace = a_customer(a)
    first = given(workspace)
    for_type(packs, "salon_spa")
    assert given(workspace, "telegram") == first
    Channel.objects.filter(workspace=workspace).update(status="disconnected")
    Automation.objects.all().delete()
    assert given(workspace, "instagram") is None


def test_a_business_profile_is_no_messaging_channel(a: Tenant) -> None:
    workspace = a_customer(a)
    assert given(workspace, "gbp") is None
    assert not StarterPack.objects.exists()
    assert given(workspace, "whatsapp") == own("salon_spa")
    assert Automation.objects.count() == 2


def test_what_is_given_is_switched_off(a: Tenant) -> None:
    workspace = a_customer(a)
    given(workspace)
    assert set(Automation.objects.values_list("enabled", flat=True)) == {False}


def test_it_is_one_transaction_with_the_channel(a: Tenant, monkeypatch: Any) -> None:
    """If the packs cannot be read, no channel is left without its starter pack."""

    def broken() -> None:
        raise OSError("The library is away.")

    workspace = a_customer(a)
    monkeypatch.setattr(installs, "library", broken)
    with pytest.raises(OSError, match="away"):
        connect_channel(
            workspace=workspace, platform="whatsapp", external_id="x", name="n", handle="h", now=now(), by=SYSTEM
        )
    assert not Channel.objects.filter(workspace=workspace).exists()
    assert not StarterPack.objects.exists()
