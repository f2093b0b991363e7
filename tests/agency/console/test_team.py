"""The team: seen by all, managed by owners, never without one."""

from typing import Any

import pytest
from django.test import Client

from agency.models import Mail, Member
from tests.agency.console.browsers import a_browser, a_member, a_person, flashes, text
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
TEAM = "/console/team"


def invite(browser: Client, email: str = "new@example.com", role: str = "admin", name: str = "Nora") -> Any:
    return browser.post(f"{TEAM}/invite", {"email": email, "name": name, "role": role}, follow=True)


def test_an_owner_invites_a_person_who_gets_an_e_mail(a: Tenant, owner: Client) -> None:
    Mail.objects.all().delete()
    answer = invite(owner, "  Nora@Example.com ")
    member = Member.objects.get(user__email="nora@example.com")
    assert (member.agency, member.role, member.user.name) == (a.agency, "admin", "Nora")
    assert Mail.objects.get().user == member.user
    assert "nora@example.com is in the team." in flashes(answer)[0]


def test_inviting_does_not_say_whether_the_person_was_known(a: Tenant, owner: Client) -> None:
    known = a_person(email="known@example.com")
    said = [flashes(invite(owner, email))[0] for email in (known.email, "fresh@example.com")]
    assert said[0].replace("known@", "fresh@") == said[1]


def test_a_member_cannot_be_invited_twice(a: Tenant, owner: Client) -> None:
    invite(owner)
    again = invite(owner, "NEW@example.com", role="viewer")
    assert again.status_code == 422
    assert "E-mail: This person is already in the team." in text(again)
    assert Member.objects.get(user__email="new@example.com").role == "admin"


@pytest.mark.parametrize("role", ["", "root", "Owner", "is_staff"])
def test_a_role_that_there_is_not_is_refused(role: str, a: Tenant, owner: Client) -> None:
    assert invite(owner, role=role).status_code == 422
    member = a_member(a.agency, "viewer")
    assert owner.post(f"{TEAM}/{member.pk}", {"role": role}).status_code == 422
    member.refresh_from_db()
    assert member.role == "viewer"


def test_an_owner_changes_a_role(a: Tenant, owner: Client) -> None:
    member = a_member(a.agency, "viewer")
    assert "Role of" in text(owner.get(f"{TEAM}/{member.pk}"))
    answer = owner.post(f"{TEAM}/{member.pk}", {"role": "owner"}, follow=True)
    assert flashes(answer) == [f"{member.user.email} is now: Owner."]
    member.refresh_from_db()
    assert member.role == "owner"


def test_an_owner_removes_a_member(a: Tenant, owner: Client) -> None:
    member = a_member(a.agency)
    assert f"Remove {member.user.email}?" in text(owner.get(f"{TEAM}/{member.pk}/remove"))
    answer = owner.post(f"{TEAM}/{member.pk}/remove", follow=True)
    assert flashes(answer) == [f"{member.user.email} was removed from the team."]
    assert not Member.objects.filter(pk=member.pk).exists()


def test_the_last_owner_can_neither_leave_nor_step_down(a: Tenant) -> None:
    last = a_member(a.agency, "owner")
    browser = a_browser(last.user)
    for path, fields in ((f"{TEAM}/{last.pk}", {"role": "viewer"}), (f"{TEAM}/{last.pk}/remove", {})):
        answer = browser.post(path, fields)
        assert answer.status_code == 422
        assert "An agency needs at least one owner." in text(answer)
    last.refresh_from_db()
    assert last.role == "owner"


def test_an_owner_who_is_not_the_last_may_leave_and_is_then_outside(a: Tenant, owner: Client) -> None:
    second = a_member(a.agency, "owner")
    browser = a_browser(second.user)
    assert browser.post(f"{TEAM}/{second.pk}/remove", follow=True).status_code == 403


def test_an_admin_cannot_make_themselves_an_owner(a: Tenant) -> None:
    member = a_member(a.agency, "admin")
    assert a_browser(member.user).post(f"{TEAM}/{member.pk}", {"role": "owner"}).status_code == 403
    member.refresh_from_db()
    assert member.role == "admin"


def test_everybody_sees_the_team_and_only_owners_the_buttons(owner: Client, admin: Client, viewer: Client) -> None:
    assert b"/remove" in owner.get(TEAM).content
    assert b"/console/team/invite" in owner.get(TEAM).content
    for browser in (admin, viewer):
        page = browser.get(TEAM)
        assert "Owners manage them." in text(page)
        assert "(you)" in text(page)
        assert b"/remove" not in page.content
        assert b"/console/team/invite" not in page.content
