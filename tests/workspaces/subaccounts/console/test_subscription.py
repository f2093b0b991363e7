"""A sub-account's plan and add-ons in the console."""

import re

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import archive_item
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import AddonFactory, PlanFactory, plan_limits
from tests.tenants import Tenant
from workspaces.subaccounts.services import grant_addon, suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def path(a: Tenant) -> str:
    return f"/console/sub-accounts/{a.workspace.uuid}"


def test_a_plan_is_chosen_and_its_limits_copied(a: Tenant, path: str, admin: Client) -> None:
    gold = PlanFactory.create(agency=a.agency, name="Gold", limits=plan_limits(contacts=7))
    page = admin.get(f"{path}/plan")
    assert f"{a.plan.name} Now Contacts: 1,000" in text(page)
    assert re.search(rf'<input[^>]* value="{a.plan.uuid}"[^>]* checked', page.content.decode())
    answer = admin.post(f"{path}/plan", {"plan": str(gold.uuid)}, follow=True)
    assert flashes(answer) == [f"{a.workspace.name} now has the plan Gold."]
    a.workspace.refresh_from_db()
    assert (a.workspace.plan, a.workspace.limits["contacts"]) == (gold, 7)
    assert a.event_names() == ["workspace.created", "subscription.changed"]


def test_the_same_plan_again_copies_its_limits_again_and_sends_no_event(a: Tenant, path: str, admin: Client) -> None:
    a.workspace.refresh_from_db()
    a.plan.limits = plan_limits(contacts=9)
    a.plan.save()
    admin.post(f"{path}/plan", {"plan": str(a.plan.uuid)})
    a.workspace.refresh_from_db()
    assert a.workspace.limits["contacts"] == 9
    assert a.event_names() == ["workspace.created"]


def test_a_plan_lifts_no_suspension(a: Tenant, path: str, admin: Client) -> None:
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    admin.post(f"{path}/plan", {"plan": str(a.plan.uuid)})
    a.workspace.refresh_from_db()
    assert not a.workspace.is_active


def test_only_the_agency_s_live_plans_are_offered_and_taken(a: Tenant, b: Tenant, path: str, admin: Client) -> None:
    legacy = PlanFactory.create(agency=a.agency, name="Legacy")
    archive_item(item=legacy, now=now(), by=SYSTEM)
    page = text(admin.get(f"{path}/plan"))
    for plan in (legacy, b.plan):
        assert plan.name not in page
        assert admin.post(f"{path}/plan", {"plan": str(plan.uuid)}).status_code == 422
    assert admin.post(f"{path}/plan").status_code == 422


def test_without_plans_the_page_leads_to_the_first(a: Tenant, path: str, admin: Client) -> None:
    archive_item(item=a.plan, now=now(), by=SYSTEM)
    assert "There are no plans yet. New plan" in text(admin.get(f"{path}/plan"))


def test_an_add_on_is_granted_once(a: Tenant, path: str, admin: Client) -> None:
    data = {"addon": str(a.addon.uuid)}
    answer = admin.post(f"{path}/add-ons", data, follow=True)
    assert flashes(answer) == [f"{a.addon.name} was granted to {a.workspace.name}."]
    assert "Contacts 0 1,500" in text(answer)
    again = admin.post(f"{path}/add-ons", data, follow=True)
    assert flashes(again) == [f"{a.workspace.name} already has {a.addon.name}."]
    assert a.event_names() == ["workspace.created", "addon.granted"]


def test_only_add_ons_that_are_live_and_not_held_are_offered(a: Tenant, b: Tenant, path: str, admin: Client) -> None:
    legacy, free = (AddonFactory.create(agency=a.agency, name=name) for name in ("Legacy", "Free"))
    archive_item(item=legacy, now=now(), by=SYSTEM)
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    page = admin.get(path).content.decode()
    assert f'<option value="{free.uuid}">Free</option>' in page
    for other in (legacy, a.addon, b.addon):
        assert f'<option value="{other.uuid}"' not in page
    for refused in (str(legacy.uuid), str(b.addon.uuid), "nonsense", ""):
        answer = admin.post(f"{path}/add-ons", {"addon": refused}, follow=True)
        assert flashes(answer) == ["Choose an add-on first."]
    assert "addon.granted" not in a.event_names()[2:]


def test_an_add_on_is_revoked_after_a_question_even_an_archived_one(a: Tenant, path: str, admin: Client) -> None:
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    archive_item(item=a.addon, now=now(), by=SYSTEM)
    revoke = f"{path}/add-ons/{a.addon.uuid}/revoke"
    assert f"Revoke {a.addon.name} from {a.workspace.name}?" in text(admin.get(revoke))
    answer = admin.post(revoke, follow=True)
    assert flashes(answer) == [f"{a.addon.name} was revoked from {a.workspace.name}."]
    assert "Contacts 0 1,000" in text(answer)
    assert a.event_names()[-1] == "addon.revoked"
    assert admin.post(revoke).status_code == 404


def test_an_add_on_that_is_not_held_has_no_page_to_revoke_it(a: Tenant, path: str, admin: Client) -> None:
    assert admin.get(f"{path}/add-ons/{a.addon.uuid}/revoke").status_code == 404
