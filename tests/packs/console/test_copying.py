"""Copying an automation out of a sub-account, at the console."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import WorkspaceFactory
from tests.factories.flows import a_catch_all, a_customers_flow, a_flow, a_step
from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import extra
from tests.tenants import Tenant
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
SECRETS = ("49 151 1234 5678", "cal-8841", "agent-17", "acct-agency-9", "corner-salon.example")


@pytest.fixture
def salon(a: Tenant) -> Workspace:
    return WorkspaceFactory.create(agency=a.agency, name="Corner Salon")


def preview(pack: str, automation: Automation) -> str:
    return f"/console/packs/{pack}/copy/{automation.workspace.uuid}/{automation.uuid}"


def test_only_sub_accounts_with_something_published_are_offered(
    a: Tenant, b: Tenant, salon: Workspace, packs: PackClient, admin: Client
) -> None:
    an_automation(salon, name="Shown")
    an_automation(salon, name="Hidden draft", published=False)
    an_automation(WorkspaceFactory.create(agency=a.agency, name="Drafts only"), published=False)
    an_automation(WorkspaceFactory.create(agency=b.agency, name="Foreign"))
    pack = packs.new()
    shown = text(admin.get(f"/console/packs/{pack}/copy"))
    assert "Corner Salon 1" in shown
    assert "Drafts only" not in shown
    assert "Foreign" not in shown
    listed = text(admin.get(f"/console/packs/{pack}/copy/{salon.uuid}"))
    assert "Shown WhatsApp" in listed
    assert "Hidden draft" not in listed


def test_sub_accounts_are_searched_by_name(salon: Workspace, packs: PackClient, admin: Client) -> None:
    an_automation(salon)
    path = f"/console/packs/{packs.new()}/copy"
    assert "Corner Salon" in text(admin.get(path, {"search": "CORNER"}))
    for nothing in ("elsewhere", "%", "\0"):
        assert "No sub-account matches" in text(admin.get(path, {"search": nothing}))


def test_nothing_to_copy_says_so(packs: PackClient, admin: Client) -> None:
    assert "Nothing to copy yet" in text(admin.get(f"/console/packs/{packs.new()}/copy"))


def test_the_preview_tells_slots_and_saves_nothing(salon: Workspace, packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    flow = a_customers_flow()
    flow["steps"][3]["config"]["pays"] = "order"
    automation = an_automation(salon, flow=flow)
    page = admin.get(preview(pack, automation))
    shown = text(page)
    for label in ("Calendar", "Person", "Web address", "Text"):
        assert label in shown
    assert "Cannot run yet: Orders are not available yet (Step 4: Send a payment link)." in shown
    assert not any(secret in page.content.decode() for secret in SECRETS)
    assert packs.names(pack) == []
    assert "Schritt 1: " in text(admin.get(preview(pack, automation), headers={"Accept-Language": "de"}))


def test_confirming_makes_the_copy(salon: Workspace, packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    automation = an_automation(salon, name="Book and pay", flow=a_customers_flow())
    answer = admin.post(preview(pack, automation), follow=True)
    assert flashes(answer) == ["Book and pay was copied into the pack."]
    assert "4 slots that each customer fills in" in text(answer)
    german = text(admin.get(f"/console/packs/{pack}", headers={"Accept-Language": "de"}))
    assert "Schritt 1" in german
    assert " Kopie " in german, "the badge is a noun"
    assert "Step 1" not in german
    assert not any(secret in answer.content.decode() for secret in SECRETS)
    assert packs.read(pack)["entries"][0]["source"] == "custom"


def test_a_copy_keeps_a_name(salon: Workspace, packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    admin.post(preview(pack, an_automation(salon)))
    entry = packs.read(pack)["entries"][0]["uuid"]
    answer = admin.post(f"/console/packs/{pack}/entries/{entry}", {"name": "", "tier": "core"})
    assert answer.status_code == 422


def test_the_preview_warns_of_one_that_answers_everything(salon: Workspace, packs: PackClient, admin: Client) -> None:
    path = preview(packs.new(), an_automation(salon, flow=a_catch_all()))
    assert "It answers every message or comment." in text(admin.get(path))


def test_a_step_that_may_not_go_into_a_pack_is_named_and_refused(
    salon: Workspace, packs: PackClient, admin: Client
) -> None:
    pack = packs.new()
    step = a_step("call", "custom_code", code="return 1")
    automation = an_automation(salon, flow=a_flow(step))
    shown = text(admin.get(preview(pack, automation)))
    assert "This automation cannot be copied" in shown
    assert "cannot go into a pack." in shown
    assert "Copy into the pack" not in shown
    assert admin.post(preview(pack, automation)).status_code == 422
    assert packs.names(pack) == []


def test_one_that_is_not_published_is_refused(salon: Workspace, packs: PackClient, admin: Client) -> None:
    automation = an_automation(salon, published=False)
    assert "This automation is not published." in text(admin.get(preview(packs.new(), automation)))


def test_a_full_pack_takes_no_copy(salon: Workspace, packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(*[extra(number) for number in range(1, 10)])
    answer = admin.post(preview(pack, an_automation(salon)))
    assert answer.status_code == 422
    assert "A pack holds at most 9 automations." in text(answer)


def test_the_list_of_sub_accounts_costs_the_same_whatever_its_length(
    a: Tenant, packs: PackClient, admin: Client
) -> None:
    path = f"/console/packs/{packs.new()}/copy"
    counts = []
    for number in range(4):
        an_automation(WorkspaceFactory.create(agency=a.agency, name=f"Shop {number}"))
        admin.get(path)
        with CaptureQueriesContext(connection) as queries:
            admin.get(path)
        counts.append(len(queries))
    assert counts[0] == counts[-1] <= 8
