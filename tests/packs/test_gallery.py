"""What customers see and install: the gallery, installs, slots, switching on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.library import library
from packs.services import gallery_of, install_pack
from packs.services.errors import PackNotFound
from packs.services.installs import Installation
from tests import furnished
from tests.factories import ChannelFactory, ContactFactory, ProductFactory, WorkspaceFactory
from tests.factories.flows import a_birthday_flow, a_customers_flow
from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import BOOKING, REMINDER, REVIEWS, WELCOME, extra
from tests.parallel import at_once
from tests.tenants import Api, Tenant
from tests.waiting import PATIENCE_SECONDS
from tests.workspaces.automations.ready import make_ready
from workspaces.automations.models import Automation
from workspaces.automations.services import (
    NotReady,
    SlotNotFound,
    SlotRefused,
    enable_automation,
    fill_slots,
    reasons_not_ready,
    remove_automation,
)
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

OWN = 8


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """A customer with a WhatsApp number and nothing of a starter pack, as it is `given` already."""
    workspace = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=workspace, starter_pack=False)
    return workspace


def install(workspace: Workspace, pack: str | UUID, **chosen: set[UUID]) -> Installation:
    return install_pack(workspace=workspace, pack=UUID(str(pack)), now=now(), by=SYSTEM, **chosen)


def names(workspace: Workspace) -> list[str]:
    return [pack.offered.name for pack in gallery_of(workspace=workspace)]


def test_the_agencys_published_packs_come_first_in_order_then_the_services_own(
    a: Tenant, b: Tenant, packs: PackClient, customer: Workspace
) -> None:
    one = packs.with_entries(extra(1), name="One", status="published")
    two = packs.with_entries(extra(1), name="Two", status="published")
    packs.with_entries(extra(1), name="Draft")
    packs.with_entries(extra(1), name="Archived", status="archived")
    PackClient(b).with_entries(extra(1), name="Foreign", status="published")
    a.api.put("/packs/order", {"order": [two, one]})
    shown = names(customer)
    assert shown[:2] == ["Two", "One"]
    assert shown[2:] == [pack.name for pack in library().packs]
    assert len(shown[2:]) == OWN


def test_replace_platform_takes_effect_only_once_a_pack_is_published(
    a: Tenant, packs: PackClient, customer: Workspace
) -> None:
    a.api.put("/packs/visibility", {"replace_platform": True})
    pack = packs.with_entries(extra(1), name="Ours")
    assert len(names(customer)) == OWN
    packs.change(pack, status="published")
    assert names(customer) == ["Ours"]
    packs.change(pack, status="archived")
    assert len(names(customer)) == OWN


def test_the_gallery_shows_what_fits_what_is_missing_and_what_is_installed(
    packs: PackClient, customer: Workspace
) -> None:
    packs.with_entries(BOOKING, REVIEWS, extra(1), status="published")
    ProductFactory.create(workspace=customer)

    def shown() -> list[tuple[str, bool, list[str], bool]]:
        entries = gallery_of(workspace=customer)[0].entries
        return [(one.offered.name, one.fits, one.missing, one.installed is not None) for one in entries]

    assert shown() == [
        ("Book a visit", True, ["availability"], False),
        ("Answer reviews", False, [], False),
        ("Extra 1", True, [], False),
    ]
    pack = gallery_of(workspace=customer)[0]
    assert (pack.is_installed, pack.can_add) == (False, True)
    install(customer, pack.offered.uuid)
    assert [installed for *_, installed in shown()] == [True, False, True]
    pack = gallery_of(workspace=customer)[0]
    assert (pack.is_installed, pack.can_add) == (True, False)


def test_a_gallery_costs_the_same_however_many_packs_there_are(packs: PackClient, customer: Workspace) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            gallery_of(workspace=customer)
        return len(queries)

    packs.with_entries(extra(1), extra(2), status="published")
    few = cost()
    for _ in range(4):
        packs.with_entries(extra(1), extra(2), status="published")
    assert cost() == few <= 9


def test_installing_makes_one_switched_off_automation_for_each_entry_that_fits(
    packs: PackClient, customer: Workspace
) -> None:
    pack = packs.with_entries(BOOKING, REVIEWS, extra(1), status="published")
    done = install(customer, pack)
    assert [entry.name for entry in done.unfitting] == ["Answer reviews"]
    made = list(Automation.objects.order_by("id"))
    assert made == done.added
    assert [(one.name, one.platform, one.enabled, one.requires, one.slots) for one in made] == [
        ("Book a visit", "whatsapp", False, ["service", "availability"], []),
        ("Extra 1", "whatsapp", False, [], []),
    ]
    assert all(one.published and one.published.flow == one.draft for one in made)
    assert packs.read(pack)["installed_in"] == 1


def test_installing_again_adds_what_is_missing_and_changes_nothing_else(
    a: Tenant, packs: PackClient, customer: Workspace
) -> None:
    pack = packs.with_entries(extra(1), extra(2), REVIEWS, status="published")
    first, second = install(customer, pack).added
    before = Automation.objects.filter(pk=first.pk).values().get()
    assert install(customer, pack).added == []
    remove_automation(automation=second, by=SYSTEM)
    ChannelFactory.create(workspace=customer, platform="gbp")
    entry = packs.read(pack)["entries"][0]["uuid"]
    a.api.patch(f"/packs/{pack}/entries/{entry}", {"name": "New name", "requires": ["payment"]})
    assert sorted(one.name for one in install(customer, pack).added) == ["Answer reviews", "Extra 2"]
    assert Automation.objects.filter(pk=first.pk).values().get() == before


def test_chosen_entries_alone_are_installed(packs: PackClient, customer: Workspace) -> None:
    pack = packs.with_entries(extra(1), extra(2), status="published")
    chosen = UUID(packs.read(pack)["entries"][1]["uuid"])
    assert [one.name for one in install(customer, pack, entries={chosen}).added] == ["Extra 2"]


def test_the_installed_automation_gets_the_names_and_requirements_of_the_entry(
    a: Tenant, packs: PackClient, customer: Workspace
) -> None:
    pack = packs.with_entries(BOOKING, status="published")
    entry = packs.read(pack)["entries"][0]["uuid"]
    a.api.patch(f"/packs/{pack}/entries/{entry}", {"name": "Visit us", "requires": []})
    (made,) = install(customer, pack).added
    assert (made.name, made.requires) == ("Visit us", [])
    assert reasons_not_ready(made) == []


def test_a_retired_automation_is_skipped(packs: PackClient, customer: Workspace, retire: Callable[..., None]) -> None:
    pack = packs.with_entries(WELCOME, extra(1), status="published")
    retire(WELCOME)
    assert [one.offered.name for one in gallery_of(workspace=customer)[0].entries] == ["Extra 1"]
    assert [one.name for one in install(customer, pack).added] == ["Extra 1"]


def test_the_channel_connected_first_is_taken(a: Tenant, packs: PackClient) -> None:
    workspace = WorkspaceFactory.create(agency=a.agency)
    for platform in ("gbp", "telegram", "whatsapp"):
        ChannelFactory.create(workspace=workspace, platform=platform)
    pack = packs.with_entries(extra(1), REMINDER, REVIEWS, status="published")
    assert [one.platform for one in install(workspace, pack).added] == ["telegram", "whatsapp", "gbp"]


def test_only_what_the_gallery_shows_can_be_installed(
    a: Tenant, b: Tenant, packs: PackClient, customer: Workspace
) -> None:
    hidden = [
        packs.with_entries(extra(1)),
        packs.with_entries(extra(1), status="archived"),
        PackClient(b).with_entries(extra(1), status="published"),
        str(uuid4()),
    ]
    for pack in hidden:
        with pytest.raises(PackNotFound):
            install(customer, pack)
    platform = library().packs[0].uuid
    assert install(customer, platform).added
    packs.with_entries(extra(1), status="published")
    a.api.put("/packs/visibility", {"replace_platform": True})
    with pytest.raises(PackNotFound):
        install(customer, platform)


def test_nothing_done_to_a_pack_changes_what_customers_have(a: Tenant, packs: PackClient, customer: Workspace) -> None:
    pack = packs.with_entries(extra(1), extra(2), status="published")
    install(customer, pack)
    before = list(Automation.objects.order_by("id").values())
    entry = packs.read(pack)["entries"][0]["uuid"]
    a.api.patch(f"/packs/{pack}/entries/{entry}", {"name": "Else", "requires": ["payment"]})
    a.api.delete(f"/packs/{pack}/entries/{entry}")
    packs.change(pack, status="archived")
    a.api.delete(f"/packs/{pack}")
    assert list(Automation.objects.order_by("id").values()) == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("looks", [1, 2, 3])
def test_a_pack_that_is_removed_between_two_looks_at_it_is_installed_as_far_as_it_was_read(
    a: Tenant, packs: PackClient, copier: Api, customer: Workspace, looks: int
) -> None:
    source = an_automation(a.workspace, name="Booking", flow=a_customers_flow())
    pack = packs.with_entries(extra(1), extra(2))
    body = {"workspace": str(a.workspace.uuid), "automation": str(source.uuid)}
    assert copier.post(f"/packs/{pack}/entries", body).status_code == 201
    packs.change(pack, status="published")
    seen: list[str] = []

    def let_in(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if 'FROM "packs_packentry"' in sql:
            seen.append(sql)
            if len(seen) == looks:
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(remove_there).result(PATIENCE_SECONDS)
        return answer

    def remove_there() -> None:
        try:
            a.api.delete(f"/packs/{pack}")
        finally:
            connections.close_all()

    with connection.execute_wrapper(let_in):
        added = [one.name for one in install(customer, pack).added]
    assert added in (["Extra 1", "Extra 2"], ["Extra 1", "Extra 2", "Booking"])
    assert len(seen) <= 2


def test_from_a_customers_automation_to_another_customer_who_runs_it(
    a: Tenant, packs: PackClient, copier: Api, customer: Workspace
) -> None:
    source = an_automation(a.workspace, name="A treat", flow=a_birthday_flow())
    pack = packs.new()
    body = {"workspace": str(a.workspace.uuid), "automation": str(source.uuid)}
    assert copier.post(f"/packs/{pack}/entries", body).status_code == 201
    packs.change(pack, status="published")
    (made,) = install(customer, pack).added
    assert made.published is None
    with pytest.raises(NotReady) as refused:
        enable_automation(automation=made, now=now(), by=SYSTEM)
    assert refused.value.reasons == [
        "Fill in Step 1: Send a text (Text).",
        "Fill in Step 2: Check the working hours (Calendar).",
        "Fill in Step 3: Assign the conversation (Person).",
        "Fill in Step 4: Send a link button (Web address).",
        "This needs working hours.",
        "This needs at least one contact.",
    ]
    with pytest.raises(SlotRefused) as wrong:
        fill_slots(automation=made, values={("step_4", "url"): "no address"}, now=now(), by=SYSTEM)
    assert list(wrong.value.errors) == ["step_4.url"]
    for slot in (("step_4", "text"), ("step_9", "text"), ("step_2", "calendar.0")):
        with pytest.raises(SlotNotFound):
            fill_slots(automation=made, values={slot: "x"}, now=now(), by=SYSTEM)
    values = {("step_1", "text"): "Call us!", ("step_2", "calendar"): "mine", ("step_3", "agent"): "me"}
    assert fill_slots(automation=made, values=values, now=now(), by=SYSTEM).published is None
    filled = fill_slots(automation=made, values={("step_4", "url"): "https://else.example/"}, now=now(), by=SYSTEM)
    assert filled.published is not None
    ContactFactory.create(workspace=customer)
    make_ready(customer, "availability")
    running = enable_automation(automation=made, now=now(), by=SYSTEM)
    assert running.enabled is True
    assert running.published is not None
    assert running.published.flow["steps"][1]["config"]["calendar"] == "mine"


@pytest.mark.django_db(transaction=True)
def test_installing_at_once_installs_once() -> None:
    a = Tenant()
    packs = PackClient(a)
    pack = packs.with_entries(extra(1), extra(2), extra(3), status="published")
    ChannelFactory.create(workspace=a.workspace)
    held = Automation.objects.filter(from_pack=pack)
    added = at_once(lambda _: len(install(a.workspace, pack).added), times=6)
    assert sorted(added) == [0, 0, 0, 0, 0, 3]
    assert held.count() == 3
