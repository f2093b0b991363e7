"""One sub-account's page: what it is, what it may, what was done to it, and the changes of it."""

from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, flashes, text
from tests.factories import WorkspaceFactory, plan_limits
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import assign_plan, change_workspace, grant_addon, suspend_workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(a: Tenant) -> str:
    return f"/console/sub-accounts/{a.workspace.uuid}"


def test_its_page_shows_the_facts_and_the_id_to_copy(a: Tenant, path: str, viewer: Client) -> None:
    page = viewer.get(path)
    for expected in (a.workspace.name, "Active", a.workspace.owner_name, a.workspace.owner_email, "UTC", a.plan.name):
        assert expected in text(page)
    assert f'data-copy="{a.workspace.uuid}"' in page.content.decode()
    assert f"<code>{a.workspace.uuid}</code>" in page.content.decode()


def test_an_id_in_upper_case_finds_it(a: Tenant, viewer: Client) -> None:
    assert viewer.get(f"/console/sub-accounts/{str(a.workspace.uuid).upper()}").status_code == 200


def test_limits_stand_against_their_use(a: Tenant, path: str, viewer: Client) -> None:
    a.plan.limits = plan_limits(contacts=1000, channels__whatsapp=2)
    a.plan.save()
    assign_plan(workspace=a.workspace, plan=a.plan, now=now(), by=SYSTEM)
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    a.channel.refresh_from_db()
    page = viewer.get(path)
    shown = text(page)
    assert "Contacts 0 1,500" in shown
    assert "Team members 1 No limit" in shown
    assert "WhatsApp channels 1 2" in shown
    assert '<meter min="0" max="2" value="1"' in page.content.decode()
    assert a.channel.handle in shown


def test_a_sub_account_without_a_plan_has_no_limits(a: Tenant, viewer: Client) -> None:
    bare = WorkspaceFactory.create(agency=a.agency)
    shown = text(viewer.get(f"/console/sub-accounts/{bare.uuid}"))
    assert "No plan: nothing is limited." in shown
    assert "Contacts 0 No limit" in shown


def test_what_is_neither_limited_nor_used_is_folded_away(a: Tenant, path: str, viewer: Client) -> None:
    a.plan.limits = plan_limits(contacts=1000, broadcasts_per_month=0)
    a.plan.save()
    assign_plan(workspace=a.workspace, plan=a.plan, now=now(), by=SYSTEM)
    shown, _, folded = viewer.get(path).content.decode().partition('<details class="idle-limits">')
    folded = folded.partition("</details>")[0]
    for label in ("Contacts", "Broadcasts per month", "Team members"):
        assert f'<th scope="row">{label}' in shown
        assert f'<th scope="row">{label}' not in folded
    number = folded.count('<th scope="row">')
    assert f"Not limited and not used: {number}" in folded
    assert '<th scope="row">SMS channels' in folded
    assert '<th scope="row">SMS channels' not in shown


def test_it_is_renamed_and_edited(a: Tenant, path: str) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    form = browser.get(f"{path}/edit").context["form"]
    assert (form["name"].value(), form["timezone"].value()) == (a.workspace.name, "UTC")
    data = {"name": "Renamed", "business_type": "other", "timezone": "Asia/Kathmandu"}
    answer = browser.post(f"{path}/edit", data, follow=True, headers={"X-Request-Id": "edit-1"})
    assert flashes(answer) == ["Renamed was saved."]
    a.workspace.refresh_from_db()
    assert (a.workspace.name, a.workspace.business_type, a.workspace.timezone) == tuple(data.values())
    entry = ActivityEntry.objects.get(action="workspace.changed")
    assert (entry.actor_kind, entry.actor_id, entry.actor_label) == ("user", str(member.user.pk), member.user.email)
    assert entry.address
    assert entry.request_id == "edit-1"


def test_a_business_type_may_be_taken_away_and_an_odd_zone_kept(a: Tenant, path: str, admin: Client) -> None:
    change_workspace(workspace=a.workspace, business_type="other", timezone="EST", by=SYSTEM)
    assert 'name="timezone" value="EST"' in admin.get(f"{path}/edit").content.decode()
    admin.post(f"{path}/edit", {"name": a.workspace.name, "business_type": "", "timezone": "EST"})
    a.workspace.refresh_from_db()
    assert (a.workspace.business_type, a.workspace.timezone) == (None, "EST")


def test_an_edit_that_is_refused_changes_nothing_and_keeps_the_heading(a: Tenant, path: str, admin: Client) -> None:
    page = admin.post(f"{path}/edit", {"name": "", "timezone": "UTC"})
    assert page.status_code == 422
    assert f"Edit {a.workspace.name}" in text(page)


def test_it_is_suspended_with_a_reason_after_a_question(a: Tenant, path: str, admin: Client) -> None:
    assert f"Suspend {a.workspace.name}?" in text(admin.get(f"{path}/suspend"))
    assert Workspace.objects.get(pk=a.workspace.pk).is_active
    answer = admin.post(f"{path}/suspend", {"reason": "Invoice 4711\r\nunpaid"}, follow=True)
    a.workspace.refresh_from_db()
    assert (a.workspace.status, a.workspace.suspension_reason) == ("suspended", "Invoice 4711\nunpaid")
    assert flashes(answer) == [f"{a.workspace.name} was suspended."]
    assert "Suspended just now : Invoice 4711 unpaid" in text(answer)
    assert a.event_names() == ["workspace.created", "workspace.suspended"]
    assert b"/restore" in answer.content
    assert b"/suspend" not in answer.content


def test_a_reason_may_be_left_out_but_is_not_endless(a: Tenant, path: str, admin: Client) -> None:
    assert admin.post(f"{path}/suspend", {"reason": "x" * 501}).status_code == 422
    assert admin.post(f"{path}/suspend").status_code == 302


def test_suspending_twice_sends_one_event(a: Tenant, path: str, admin: Client) -> None:
    admin.post(f"{path}/suspend", {"reason": "first"})
    admin.post(f"{path}/suspend", {"reason": "second"})
    a.workspace.refresh_from_db()
    assert a.workspace.suspension_reason == "first"
    assert a.event_names().count("workspace.suspended") == 1


def test_it_is_restored(a: Tenant, path: str, admin: Client) -> None:
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    answer = admin.post(f"{path}/restore", follow=True)
    assert flashes(answer) == [f"{a.workspace.name} was restored."]
    assert a.event_names()[-1] == "workspace.restored"
    a.workspace.refresh_from_db()
    assert a.workspace.is_active


def test_its_activity_is_its_own_in_pages(a: Tenant, path: str, viewer: Client) -> None:
    other = WorkspaceFactory.create(agency=a.agency, name="Somebody else")
    change_workspace(workspace=other, name="Else", by=SYSTEM)
    for number in range(30):
        change_workspace(workspace=a.workspace, name=f"Name {number}", by=SYSTEM)
    page = viewer.get(f"{path}/activity")
    assert "Field Before After Name Name 28 Name 29" in text(page)
    assert "Else" not in text(page)
    assert 'rel="next" href="?before=' in page.content.decode()


def test_a_viewer_has_no_buttons(a: Tenant, path: str, viewer: Client, admin: Client) -> None:
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    for page, there in ((admin.get(path), True), (viewer.get(path), False)):
        for button in ("/edit", "/suspend", "/plan", "/revoke"):
            assert (f'{button}"'.encode() in page.content) is there


def test_its_page_takes_few_statements_however_much_it_holds(
    a: Tenant, path: str, admin: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        change_workspace(workspace=a.workspace, name=f"Name {number}", by=SYSTEM)
    admin.get(path)
    with django_assert_max_num_queries(29):
        admin.get(path)
