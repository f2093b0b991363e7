"""The gallery as customers open it."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from packs.library import library
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.packs.client import PackClient
from tests.packs.small_library import BOOKING, REVIEWS, STATUS, WELCOME, extra
from tests.tenants import Tenant
from tests.workspaces.automations.ready import make_ready
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    """A customer with a WhatsApp number and no automation."""
    workspace = WorkspaceFactory.create(agency=a.agency)
    ChannelFactory.create(workspace=workspace, starter_pack=False)
    return workspace


@pytest.fixture
def owner(customer: Workspace) -> Client:
    return dashboard_client(customer)


def install(owner: Client, pack: str, **choice: Any) -> Any:
    return owner.post(f"/app/gallery/{pack}/install", choice, follow=True)


def test_packs_stand_in_the_decided_order_and_drafts_nowhere(a: Tenant, packs: PackClient, owner: Client) -> None:
    one = packs.with_entries(extra(1), name="Pack one", status="published")
    two = packs.with_entries(extra(1), name="Pack two", status="published")
    packs.with_entries(extra(1), name="Pack draft")
    a.api.put("/packs/order", {"order": [two, one]})
    shown = text(owner.get("/app/gallery"))
    assert shown.index("Pack two") < shown.index("Pack one") < shown.index(library().packs[0].name)
    assert "Pack draft" not in shown
    a.api.put("/packs/visibility", {"replace_platform": True})
    assert library().packs[0].name not in text(owner.get("/app/gallery"))


def test_a_pack_shows_labels_prerequisites_and_channels(packs: PackClient, customer: Workspace, owner: Client) -> None:
    pack = packs.with_entries(BOOKING, REVIEWS, WELCOME, status="published")
    reviews = packs.read(pack)["entries"][1]["uuid"]
    packs.api.patch(f"/packs/{pack}/entries/{reviews}", {"tier": "optional"})
    shown = text(owner.get(f"/app/gallery/{pack}"))
    assert "Book a visit Core" in shown
    assert "Answer reviews Optional" in shown
    assert "Missing: working hours" in shown
    assert "Installs on WhatsApp" in shown
    assert "What it does 1. Book an appointment" in shown
    assert "Needs a channel of one of these types: Google Business Profile" in shown
    make_ready(customer, "availability")
    assert "Met: working hours" in text(owner.get(f"/app/gallery/{pack}"))


def test_what_cannot_run_yet_says_why_and_is_not_ticked(packs: PackClient, owner: Client) -> None:
    pack = packs.with_entries(STATUS, extra(1), status="published")
    assert "2 automations, 1 cannot run yet" in text(owner.get("/app/gallery"))
    shown = owner.get(f"/app/gallery/{pack}")
    assert "Cannot run yet: Orders are not available yet (Step 1: Tell the order's status)." in text(shown)
    assert text(shown).count("Cannot run yet") == 1
    assert shown.content.decode().count(" checked>") == 1


def test_installing_adds_what_fits_and_again_what_is_missing(
    packs: PackClient, customer: Workspace, owner: Client
) -> None:
    pack = packs.with_entries(BOOKING, REVIEWS, status="published")
    answer = install(owner, pack)
    assert flashes(answer)[0].startswith("1 automation was added, switched off.")
    assert "You have already installed everything in this pack that fits your channels." in text(answer)
    assert customer.automations.get().name == "Book a visit"
    assert flashes(install(owner, pack))[0].startswith("Nothing was added")
    ChannelFactory.create(workspace=customer, platform="gbp")
    assert "Add the missing ones" in text(owner.get(f"/app/gallery/{pack}"))
    install(owner, pack)
    assert customer.automations.filter(enabled=False).count() == 2


def test_a_customer_takes_only_what_they_tick(packs: PackClient, customer: Workspace, owner: Client) -> None:
    pack = packs.with_entries(extra(1), extra(2), status="published")
    entry = packs.read(pack)["entries"][1]["uuid"]
    assert flashes(install(owner, pack, choosing="1"))[0] == "Choose at least one automation."
    install(owner, pack, choosing="1", entry=[entry])
    assert [one.name for one in customer.automations.all()] == ["Extra 2"]


def test_the_service_s_own_pack_is_installed_alike(customer: Workspace, owner: Client) -> None:
    install(owner, str(library().packs[0].uuid))
    assert customer.automations.filter(from_pack=library().packs[0].uuid).exists()


def test_a_draft_is_no_more_found_than_a_foreign_pack(packs: PackClient, b: Tenant, owner: Client) -> None:
    foreign = PackClient(b).with_entries(extra(1), status="published")
    for pack in (packs.with_entries(extra(1)), foreign):
        assert owner.get(f"/app/gallery/{pack}").status_code == 404
        assert owner.post(f"/app/gallery/{pack}/install").status_code == 404


def test_without_a_channel_nothing_can_be_installed(a: Tenant, packs: PackClient) -> None:
    pack = packs.with_entries(extra(1), status="published")
    owner = dashboard_client(a.workspace)
    assert "You have no channel yet." in text(owner.get(f"/app/gallery/{pack}"))
    assert flashes(install(owner, pack))[0].startswith("Nothing was added")


def test_the_gallery_costs_the_same_whatever_its_size(packs: PackClient, owner: Client) -> None:
    packs.with_entries(extra(1), status="published")
    owner.get("/app/gallery")
    with CaptureQueriesContext(connection) as few:
        owner.get("/app/gallery")
    of_one = len(few)  # the next request empties the log
    for number in range(5):
        packs.with_entries(extra(1), extra(2), name=f"More {number}", status="published")
    with CaptureQueriesContext(connection) as many:
        owner.get("/app/gallery")
    assert len(many) == of_one <= 14


def test_hostile_names_stay_texts(packs: PackClient, owner: Client) -> None:
    name = '</h1><script>alert("x")</script>{{7*7}}'
    pack = packs.with_entries(extra(1), name=name, summary=name, status="published")
    for path in ("/app/gallery", f"/app/gallery/{pack}"):
        assert b"<script>alert" not in owner.get(path).content


def shown_packs(owner: Client, query: str) -> list[str]:
    return re.findall(r'<h2><a href="/app/gallery/[^"]*">([^<]*)<', owner.get(f"/app/gallery{query}").content.decode())


def test_packs_are_found_by_text_automation_and_channel(a: Tenant, packs: PackClient, owner: Client) -> None:
    a.api.put("/packs/visibility", {"replace_platform": True})
    packs.with_entries(BOOKING, name="Salons", summary="For hair.", status="published")
    packs.with_entries(REVIEWS, name="Everybody", status="published")
    for query, expected in (
        ("", ["Salons", "Everybody"]),
        ("?search=SALON", ["Salons"]),
        ("?search=hair", ["Salons"]),
        ("?search=answer reviews", ["Everybody"]),
        ("?search=nothing", []),
        ("?search=%00", []),
        ("?channel=gbp", ["Everybody"]),
        ("?channel=gbp&search=salon", []),
        ("?channel=pigeon", ["Salons", "Everybody"]),
    ):
        assert shown_packs(owner, query) == expected, query
    assert "No pack matches" in text(owner.get("/app/gallery?search=nothing"))


def test_a_long_gallery_is_paged(a: Tenant, packs: PackClient, owner: Client) -> None:
    a.api.put("/packs/visibility", {"replace_platform": True})
    for number in range(27):
        packs.with_entries(extra(1), name=f"Pack {number:02}", status="published")
    assert len(shown_packs(owner, "")) == 25
    assert len(shown_packs(owner, "?page=2")) == 2
    assert len(shown_packs(owner, "?size=50")) == 27
