"""The team: seen by all, managed by owners, never without one."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import ActivityEntry, Invitation, Mail, Member, User
from tests.agency.console.browsers import a_browser, a_member, a_person, flashes, text
from tests.factories import AgencyFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
TEAM = "/console/team"


def invite(browser: Client, email: str = "new@example.com", role: str = "admin", name: str = "Nora") -> Any:
    return browser.post(f"{TEAM}/invite", {"email": email, "name": name, "role": role}, follow=True)


def test_an_owner_invites_an_address_which_is_in_the_team_only_once_it_has_accepted(a: Tenant, owner: Client) -> None:
    answer = invite(owner, "  Nora@Example.com ")
    assert flashes(answer) == ["nora@example.com is invited. They join the team when they accept the invitation."]
    invitation = Invitation.objects.get()
    assert (invitation.agency, invitation.role, invitation.email) == (a.agency, "admin", "nora@example.com")
    assert Mail.objects.get().recipient == "nora@example.com"
    assert not User.objects.filter(email="nora@example.com").exists()
    assert not Member.objects.filter(user__email="nora@example.com").exists()


def test_inviting_shows_nothing_but_the_address_whoever_it_belongs_to(a: Tenant, b: Tenant, owner: Client) -> None:
    known = a_person(email="known@example.com", name="Stored Name", last_login=now())
    b_member = a_member(b.agency, email="b@example.com", name="Known Elsewhere")
    b_member.user.last_login = now()
    b_member.user.save()
    emails = [known.email, b_member.user.email, "fresh@example.com"]
    pages = [invite(owner, email, name="Nora") for email in emails]
    said = [flashes(page)[0].replace(email, "X") for page, email in zip(pages, emails, strict=True)]
    assert len(set(said)) == 1
    rows = text(owner.get(TEAM)).split("Pending invitations")[1]
    for email in emails:
        assert f"{email} Admin just now" in rows
    for hidden_text in ("Stored Name", "Known Elsewhere", "Nora", "signed in"):
        assert hidden_text not in rows


def test_an_address_is_invited_once(a: Tenant, owner: Client) -> None:
    invite(owner)
    again = invite(owner, "NEW@example.com", role="viewer")
    assert again.status_code == 422
    assert "E-mail: This address is invited already." in text(again)
    assert Invitation.objects.get().role == "admin"


def test_a_member_cannot_be_invited(a: Tenant, owner: Client) -> None:
    member = a_member(a.agency)
    again = invite(owner, member.user.email)
    assert again.status_code == 422
    assert "E-mail: This person is already in the team." in text(again)


def test_a_name_that_a_mail_program_would_make_a_link_of_is_refused(a: Tenant, owner: Client) -> None:
    for name in ("https://evil.example/x", "Win at evil.com", "www.evil"):
        answer = invite(owner, name=name)
        assert answer.status_code == 422
        assert "Name: A name must not hold a web address." in text(answer)
    assert not Invitation.objects.exists()


def test_an_invitation_is_sent_again_and_withdrawn_by_owners(a: Tenant, owner: Client, admin: Client) -> None:
    invite(owner)
    invitation = Invitation.objects.get()
    Invitation.objects.update(expires_at=now() - timedelta(days=1))
    assert "Expired" in text(owner.get(TEAM))
    assert "Expired" in text(admin.get(TEAM))
    path = f"{TEAM}/invitations/{invitation.uuid}"
    assert flashes(owner.post(f"{path}/again", follow=True)) == ["The invitation to new@example.com was sent again."]
    invitation.refresh_from_db()
    assert invitation.expires_at > now() + timedelta(days=6)
    assert Mail.objects.filter(invitation=invitation).count() == 2
    assert flashes(owner.post(f"{path}/withdraw", follow=True)) == ["The invitation to new@example.com was withdrawn."]
    assert "new@example.com" not in text(owner.get(TEAM))
    assert owner.post(f"{path}/again").status_code == owner.post(f"{path}/withdraw").status_code == 404
    actions = ActivityEntry.objects.filter(target_kind="invitation").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["member.invited", "invitation.sent_again", "invitation.withdrawn"]


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
    assert flashes(answer) == [f"The role of {member.user.email} is now Owner."]
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


def test_the_only_owner_is_not_offered_to_be_removed() -> None:
    agency = AgencyFactory.create()
    first, other = a_member(agency, "owner"), a_member(agency, "admin")
    owner = a_browser(first.user)
    page = owner.get(TEAM).content.decode()
    assert f"{TEAM}/{first.pk}/remove" not in page
    assert f"{TEAM}/{other.pk}/remove" in page
    a_member(agency, "owner")
    assert f"{TEAM}/{first.pk}/remove" in owner.get(TEAM).content.decode()
