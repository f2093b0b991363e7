"""Who works in a workspace: invited, in with consent alone, gone at once, and never more than the plan allows."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.models import ActivityEntry, Invitation, User
from agency.services import (
    InvitationEnded,
    InvitationNotFound,
    accept_invitation,
    decline_invitation,
    withdraw_invitation,
)
from agency.services.invitations import AlreadyInvited
from tests import furnished
from tests.factories import PlanFactory, WorkspaceFactory, WorkspaceMemberFactory, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from workspaces.conversations.services import change_conversation
from workspaces.subaccounts.dashboard.base import workspaces_of
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services import (
    AlreadyInTheWorkspace,
    LimitReached,
    assign_plan,
    change_owner,
    count_usage,
    invite_workspace_member,
    leave_workspace,
    owner_state,
    people_of,
    remove_workspace_member,
    resend_member_invitation,
    transfer_ownership,
)
from workspaces.subaccounts.services.owners import NotTheOwner

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


def limited(workspace: Workspace, seats: int | None) -> None:
    plan = PlanFactory.create(agency=workspace.agency, limits=plan_limits(team_members=seats))
    assign_plan(workspace=workspace, plan=plan, now=now(), by=SYSTEM)
    workspace.refresh_from_db()


def invite(workspace: Workspace, email: str) -> Invitation:
    return invite_workspace_member(workspace=workspace, email=email, name="Nora", now=now(), by=SYSTEM)


def a_user(email: str) -> User:
    return User.objects.create_user(email, "correct-horse-battery", name="Nora")


def accept(invitation: Invitation, user: User) -> Any:
    return accept_invitation(invitation=invitation, user=user, now=now(), by=SYSTEM)


def by_user(user: User) -> Actor:
    return Actor(kind="user", id=str(user.pk), label=user.email)


def actions(workspace: Workspace) -> list[str]:
    entries = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).order_by("id")
    return list(entries.values_list("action", flat=True))


def test_nobody_is_in_before_they_have_accepted(a: Tenant) -> None:
    nora = a_user("nora@example.com")
    asked = invite(a.workspace, "Nora@Example.com")
    assert not workspaces_of(nora).exists()
    accept(asked, nora)
    assert list(workspaces_of(nora)) == [a.workspace]
    assert set(people_of(a.workspace)) == {a.workspace.owner, nora}
    assert actions(a.workspace)[-2:] == ["workspace_member.invited", "workspace_member.joined"]


def test_declining_and_withdrawing_let_nobody_in(a: Tenant) -> None:
    nora = a_user("nora@example.com")
    decline_invitation(invitation=invite(a.workspace, nora.email), user=nora, now=now(), by=by_user(nora))
    second = invite(a.workspace, nora.email)
    withdraw_invitation(invitation=second, now=now(), by=SYSTEM)
    with pytest.raises(InvitationEnded):
        accept(second, nora)
    assert list(people_of(a.workspace)) == [a.workspace.owner]


def test_an_invitation_is_good_for_seven_days_and_another_seven_when_sent_again(a: Tenant) -> None:
    nora = a_user("nora@example.com")
    asked = invite(a.workspace, nora.email)
    with time_machine.travel(now() + timedelta(days=7, seconds=1), tick=False):
        with pytest.raises(InvitationEnded):
            accept(asked, nora)
        resend_member_invitation(workspace=a.workspace, invitation=asked, now=now(), by=SYSTEM)
        accept(asked, nora)
    with pytest.raises(InvitationNotFound):
        resend_member_invitation(workspace=a.workspace, invitation=asked, now=now(), by=SYSTEM)


def test_neither_the_owner_nor_a_member_nor_who_is_invited_is_invited_again(a: Tenant) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    for email in (a.workspace.owner_email, member.user.email):
        with pytest.raises(AlreadyInTheWorkspace):
            invite(a.workspace, email)
    invite(a.workspace, "nora@example.com")
    with pytest.raises(AlreadyInvited):
        invite(a.workspace, "NORA@example.com")


def test_seats_are_those_of_the_owner_the_members_and_open_invitations(a: Tenant) -> None:
    limited(a.workspace, 3)
    WorkspaceMemberFactory.create(workspace=a.workspace)
    assert count_usage(a.workspace)["team_members"] == 2
    third = invite(a.workspace, "third@example.com")
    assert count_usage(a.workspace)["team_members"] == 3
    with pytest.raises(LimitReached) as refusal:
        invite(a.workspace, "fourth@example.com")
    assert refusal.value.message == "The plan of this sub-account allows 3 team members."
    with time_machine.travel(now() + timedelta(days=8), tick=False):
        assert count_usage(a.workspace)["team_members"] == 2
        invite(a.workspace, "fourth@example.com")
        with pytest.raises(LimitReached):
            resend_member_invitation(workspace=a.workspace, invitation=third, now=now(), by=SYSTEM)


def test_a_plan_that_allows_less_by_now_lets_nobody_more_in(a: Tenant) -> None:
    asked, nora = invite(a.workspace, "nora@example.com"), a_user("nora@example.com")
    limited(a.workspace, 1)
    with pytest.raises(LimitReached):
        accept(asked, nora)
    asked.refresh_from_db()
    assert asked.is_open
    limited(a.workspace, 2)
    accept(asked, nora)


@pytest.mark.django_db(transaction=True)
def test_of_twenty_who_accept_at_once_one_takes_the_last_place(a: Tenant) -> None:
    people = [a_user(f"person{number}@example.com") for number in range(20)]
    asked = [invite(a.workspace, person.email) for person in people]
    limited(a.workspace, 2)

    def try_to(number: int) -> bool:
        try:
            accept(asked[number], people[number])
        except LimitReached:
            return False
        return True

    assert sum(at_once(try_to, times=20, threads=10)) == 1
    assert a.workspace.members.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_twenty_invitations_at_once_one_takes_the_last_place(a: Tenant) -> None:
    limited(a.workspace, 2)

    def try_to(number: int) -> bool:
        try:
            invite(a.workspace, f"person{number}@example.com")
        except LimitReached:
            return False
        return True

    assert sum(at_once(try_to, times=20, threads=10)) == 1
    assert Invitation.objects.count() == 1


def test_a_member_who_is_removed_holds_nothing_any_more(a: Tenant) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    held = change_conversation(conversation=a_conversation(a.channel), now=now(), assigned_to=member.user)
    other = WorkspaceFactory.create(agency=a.agency, owner_email=member.user.email)
    remove_workspace_member(member=member, now=now(), by=SYSTEM)
    held.refresh_from_db()
    assert held.assigned_to is None
    assert list(workspaces_of(member.user)) == [other]
    assert actions(a.workspace)[-1] == "workspace_member.removed"


def test_a_member_leaves_and_the_owner_stays(a: Tenant) -> None:
    member = WorkspaceMemberFactory.create(workspace=a.workspace)
    leave_workspace(workspace=a.workspace, user=member.user, now=now(), by=by_user(member.user))
    assert actions(a.workspace)[-1] == "workspace_member.left"
    assert list(people_of(a.workspace)) == [a.workspace.owner]
    with pytest.raises(NotTheOwner):
        leave_workspace(workspace=a.workspace, user=member.user, now=now(), by=by_user(member.user))


def test_members_go_on_working_when_the_owner_has_left(a: Tenant) -> None:
    member, owner = WorkspaceMemberFactory.create(workspace=a.workspace), a.workspace.owner
    leave_workspace(workspace=a.workspace, user=owner, now=now(), by=by_user(owner))
    assert list(people_of(a.workspace)) == [member.user]
    assert list(workspaces_of(member.user)) == [a.workspace]


def test_handing_over_changes_places_and_leaves_one_owner(a: Tenant) -> None:
    member, owner = WorkspaceMemberFactory.create(workspace=a.workspace), a.workspace.owner
    workspace = transfer_ownership(member=member, now=now(), by=by_user(owner))
    assert (workspace.owner, workspace.owner_email) == (member.user, member.user.email)
    assert [one.user for one in workspace.members.all()] == [owner]
    assert Workspace.objects.matching(member.user.email).get() == workspace
    entry = ActivityEntry.objects.get(action="workspace.owner_handed_over")
    assert entry.changes == {"email": [owner.email, member.user.email]}
    with pytest.raises(NotTheOwner):
        transfer_ownership(member=workspace.members.get(), now=now(), by=by_user(owner))


def test_an_agency_that_names_a_member_as_owner_leaves_them_in_one_place(a: Tenant) -> None:
    member, former = WorkspaceMemberFactory.create(workspace=a.workspace), a.workspace.owner
    workspace = change_owner(workspace=a.workspace, name="Nora", email=member.user.email, now=now(), by=SYSTEM)
    assert workspace.owner_pending_since is None
    assert not workspace.members.exists()
    assert not workspaces_of(former).exists()


def test_who_is_invited_as_a_member_and_becomes_the_owner_is_asked_once(a: Tenant) -> None:
    nora = a_user("nora@example.com")
    invite(a.workspace, nora.email)
    workspace = change_owner(workspace=a.workspace, name="Nora", email=nora.email, now=now(), by=SYSTEM)
    open_one = Invitation.objects.get(status="open")
    assert (open_one.kind, owner_state(workspace).value) == ("workspace", "waiting")
    invite(a.workspace, "somebody@example.com")
    accept(open_one, nora)
    workspace.refresh_from_db()
    assert owner_state(workspace).value == "signed_up"


def test_what_a_person_belongs_to_is_narrowed_to_an_agency(a: Tenant, b: Tenant) -> None:
    nora = a_user("nora@example.com")
    for tenant in (a, b):
        accept(invite(tenant.workspace, nora.email), nora)
    own = WorkspaceFactory.create(agency=a.agency, owner_email=nora.email)
    assert set(workspaces_of(nora)) == {a.workspace, b.workspace, own}
    assert set(workspaces_of(nora, a.agency.pk)) == {a.workspace, own}
    assert set(workspaces_of(nora, agency_id=b.agency.pk)) == {b.workspace}


def test_what_a_person_belongs_to_is_found_by_indexes(a: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = workspaces_of(a.workspace.owner).explain()
    assert "Seq Scan on subaccounts_workspace" not in plan
    assert not WorkspaceMember.objects.exists()
