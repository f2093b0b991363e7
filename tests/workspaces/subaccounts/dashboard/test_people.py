"""The page of a workspace's people, and what its members meet."""

from typing import Any

import pytest
from django.core import mail as outbox
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Invitation, User
from tests import furnished
from tests.agency.console.browsers import a_browser, a_person, flashes, text
from tests.agency.invitations import INVITATIONS, NEW, answer, join, mailed_link
from tests.factories import PlanFactory, WorkspaceFactory, WorkspaceMemberFactory, plan_limits
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client, member_client
from workspaces.subaccounts.services import assign_plan

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
PEOPLE = "/app/people"


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def invite(browser: Client, email: str = "nora@example.com", name: str = "Nora") -> Any:
    return browser.post(f"{PEOPLE}/invite", {"email": email, "name": name}, follow=True)


def test_somebody_new_is_invited_sets_a_password_and_is_in(a: Tenant, owner: Client) -> None:
    said = flashes(invite(owner))
    assert said == ["nora@example.com is invited, and can work here as soon as the invitation is accepted."]
    assert "nora@example.com" in text(owner.get(PEOPLE))
    link = mailed_link()
    sent = outbox.outbox[-1]
    assert sent.subject == "You are invited to a workspace"
    assert f"{a.workspace.name} invites you to its workspace at {a.agency.name} as a member." in str(sent.body)
    browser = a_browser()
    page = browser.get(browser.get(link)["Location"])
    assert f"{a.workspace.name} invites you to its workspace at {a.agency.name} as a member." in text(page)
    assert join(browser, link)["Location"] == "/app/"
    assert "Nora nora@example.com Member" in text(owner.get(PEOPLE))
    assert a.workspace.name in text(browser.get("/app/channels"))
    assert User.objects.get(email="nora@example.com").check_password(NEW)


def test_somebody_with_an_account_accepts_or_declines_signed_in(a: Tenant, b: Tenant, owner: Client) -> None:
    for how, is_in in (("decline", False), ("accept", True)):
        person = a_person()
        invite(owner, person.email)
        browser = a_browser(person)
        assert f"{a.workspace.name} invites you to its workspace at {a.agency.name} as a member." in text(
            browser.get(INVITATIONS)
        )
        answer(browser, Invitation.objects.get(status="open"), how)
        assert (browser.get("/app/channels").status_code == 200) is is_in
    assert f"Member, at {a.agency.name}" in text(browser.get(INVITATIONS))


def test_an_invitation_is_sent_again_and_withdrawn(a: Tenant, owner: Client) -> None:
    invite(owner)
    asked = Invitation.objects.get()
    page = owner.post(f"{PEOPLE}/invitations/{asked.uuid}/again", follow=True)
    assert flashes(page) == ["nora@example.com is invited again."]
    link = mailed_link()
    page = owner.post(f"{PEOPLE}/invitations/{asked.uuid}/withdraw", follow=True)
    assert flashes(page) == ["The invitation to nora@example.com was withdrawn."]
    assert a_browser().get(link, follow=True).status_code == 410
    assert owner.post(f"{PEOPLE}/invitations/{asked.uuid}/again").status_code == 404


def test_whoever_is_removed_is_out_with_the_next_request(a: Tenant, owner: Client) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    browser = a_browser(member.user)
    assert browser.get("/app/channels").status_code == 200
    assert "This person loses access to" in text(owner.get(f"{PEOPLE}/{member.uuid}/remove"))
    owner.post(f"{PEOPLE}/{member.uuid}/remove")
    for response in (browser.get("/app/channels"), browser.post("/app/settings"), browser.get("/app/inbox/stream")):
        assert response.status_code == 403


def test_the_owner_hands_over_and_is_a_member(a: Tenant, owner: Client) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    assert f"Make {member.user.email} the owner?" in text(owner.get(f"{PEOPLE}/{member.uuid}/owner"))
    page = owner.post(f"{PEOPLE}/{member.uuid}/owner", follow=True)
    assert flashes(page) == [f"{member.user.email} is the owner now, and you are a member."]
    assert owner.get(f"{PEOPLE}/invite").status_code == 403
    assert a_browser(member.user).get(f"{PEOPLE}/invite").status_code == 200
    card = a.api.get(f"/workspaces/{a.workspace.uuid}").json()["data"]["owner"]
    assert card == {"name": member.user.name, "email": member.user.email}


def test_a_refusal_names_the_limit(a: Tenant, owner: Client) -> None:
    plan = PlanFactory.create(agency=a.agency, limits=plan_limits(team_members=1))
    assign_plan(workspace=a.workspace, plan=plan, now=a.workspace.created_at, by=SYSTEM)
    page = invite(owner)
    assert page.status_code == 422
    assert "The plan of this sub-account allows 1 team member." in text(page)
    assert "1 of 1 places are used" in text(owner.get(PEOPLE))


def test_a_member_looks_at_people_keys_and_webhooks_without_buttons(a: Tenant) -> None:
    browser = member_client(a.workspace)
    for path, button in ((PEOPLE, "Invite"), ("/app/api", "New API key"), ("/app/webhooks", "Add webhook")):
        assert button not in text(browser.get(path))
        assert button in text(dashboard_client(a.workspace).get(path))


def test_a_member_is_assigned_conversations(a: Tenant, owner: Client) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    conversation = a_conversation(a.channel)
    path = f"/app/inbox/{conversation.uuid}"
    assert member.user.email in owner.get(path).content.decode()
    assert owner.post(f"{path}/assign", {"assigned_to": member.user.email, "seen": ""}).status_code == 302
    conversation.refresh_from_db()
    assert conversation.assigned_to == member.user
    changed = a.workspace_api.patch(f"/conversations/{conversation.uuid}", {"assigned_to": a.workspace.owner_email})
    assert changed.json()["data"]["assigned_to"]["email"] == a.workspace.owner_email
    stranger = a_person()
    refused = a.workspace_api.patch(f"/conversations/{conversation.uuid}", {"assigned_to": stranger.email})
    assert refused.status_code == 422


def test_a_person_changes_between_what_they_own_and_where_they_work(a: Tenant, b: Tenant) -> None:
    own = WorkspaceFactory.create(agency=b.agency, name="Own shop", owner_email="nora@example.com")
    WorkspaceMemberFactory.create(workspace=a.workspace, email="nora@example.com")
    browser = a_browser(User.objects.get(email="nora@example.com"))
    assert browser.get("/app/channels")["Location"].startswith("/app/choose")
    choices = text(browser.get("/app/choose"))
    assert own.name in choices
    assert a.workspace.name in choices
    browser.post("/app/switch", {"workspace": str(a.workspace.uuid)})
    assert a.agency.name in text(browser.get("/app/channels"))
    page = browser.post(f"/app/leave/{a.workspace.uuid}", follow=True)
    assert flashes(page) == [f"You have left {a.workspace.name}."]
    assert "Own shop" in text(browser.get("/app/channels"))
    assert ActivityEntry.objects.filter(action="workspace_member.left").count() == 1


def test_the_agency_sees_who_works_there(a: Tenant, admin: Client) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    assert f"{member.user.name} {member.user.email}" in text(admin.get(f"/console/sub-accounts/{a.workspace.uuid}"))


@pytest.mark.parametrize("path", ["/app/channels", "/app/inbox", PEOPLE])
def test_more_people_cost_no_more_queries(a: Tenant, path: str, django_assert_num_queries: Any) -> None:
    browser = member_client(a.workspace)
    browser.get(path)
    with CaptureQueriesContext(connection) as before:
        browser.get(path)
    for _ in range(3):
        WorkspaceMemberFactory.create(workspace=a.workspace)
    with django_assert_num_queries(len(before)):
        browser.get(path)


def test_an_owner_who_has_left_is_not_shown(a: Tenant, owner: Client) -> None:
    browser = member_client(a.workspace)
    owner.post(f"/app/leave/{a.workspace.uuid}")
    assert a.workspace.owner_email not in text(browser.get(PEOPLE))
