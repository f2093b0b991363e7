"""Support gives agencies their people, and superusers decide who is support."""

from collections.abc import Callable

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import Group, Permission
from django.test import Client

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, Invitation, Mail, Member, User
from agency.services import add_member
from tests.agency.invitations import invited

pytestmark = pytest.mark.django_db

FORM = {"name": "Somebody", "is_active": "on"}


def people_staff(person: Callable[..., User]) -> User:
    """Make staff who may see and change people and members, and no more."""
    colleague = person(is_staff=True)
    names = ("view_user", "change_user", "view_member", "change_member", "add_member")
    colleague.user_permissions.set(Permission.objects.filter(codename__in=names, content_type__app_label="agency"))
    return colleague


def test_support_invites_an_agencys_first_owner(support: Client, agency: Agency, superuser: User) -> None:
    fields = {"agency": agency.pk, "email": "New@Example.com", "name": "New Owner", "role": "owner"}
    assert support.post("/admin/agency/invitation/add/", fields).status_code == 302
    invitation = Invitation.objects.get(agency=agency)
    assert (invitation.email, invitation.role, invitation.invited_by) == ("new@example.com", "owner", superuser.email)
    assert Mail.objects.get(invitation=invitation).kind == Mail.Kind.MEMBER_INVITATION
    assert not Member.objects.exists()
    page = support.post("/admin/agency/invitation/add/", fields, follow=True)
    assert b"This address is invited already." in page.content
    for wrong in ({"role": ""}, {"name": "evil.com"}, {"email": "x"}):
        assert support.post("/admin/agency/invitation/add/", {**fields, **wrong}).status_code == 200
    assert Invitation.objects.count() == 1


def test_support_withdraws_an_invitation_and_the_row_stays(support: Client, agency: Agency) -> None:
    invitation = invited(agency, "new@example.com")
    page = f"/admin/agency/invitation/{invitation.pk}"
    assert support.get(f"{page}/change/").status_code == 200
    assert support.post(f"{page}/change/", {"role": "owner"}).status_code == 403
    confirmed = {"post": "yes", "typed_name": "new@example.com"}
    assert support.post(f"{page}/delete/", confirmed).status_code == 302
    assert Invitation.objects.get().status == "withdrawn"
    assert support.post(f"{page}/delete/", confirmed).status_code == 403


def test_nobody_is_made_a_member_unasked(support: Client, agency: Agency) -> None:
    fields = {"agency": agency.pk, "email": "new@example.com", "name": "New", "role": "viewer"}
    assert support.post("/admin/agency/member/add/", fields).status_code == 403
    assert not Member.objects.exists()


def test_a_role_is_changed_but_the_last_owner_stays(support: Client, agency: Agency) -> None:
    owner = add_member(agency=agency, email="a@example.com", name="A", role="owner", by=SYSTEM)
    other = add_member(agency=agency, email="b@example.com", name="B", role="viewer", by=SYSTEM)
    assert support.post(f"/admin/agency/member/{other.pk}/change/", {"role": "admin"}).status_code == 302
    page = support.post(f"/admin/agency/member/{owner.pk}/change/", {"role": "viewer"}, follow=True)
    assert b"An agency needs at least one owner." in page.content
    assert list(Member.objects.order_by("id").values_list("role", flat=True)) == ["owner", "admin"]


def test_a_member_is_removed_but_the_last_owner_stays(support: Client, agency: Agency) -> None:
    owner = add_member(agency=agency, email="a@example.com", name="A", role="owner", by=SYSTEM)
    other = add_member(agency=agency, email="b@example.com", name="B", role="viewer", by=SYSTEM)
    page = f"/admin/agency/member/{other.pk}/delete/"
    assert "b@example.com" in support.get(page).content.decode()
    assert b"This is not its name" in support.post(page, {"post": "yes", "typed_name": "B"}, follow=True).content
    assert Member.objects.count() == 2
    assert support.post(page, {"post": "yes", "typed_name": "b@example.com"}).status_code == 302
    assert LogEntry.objects.filter(object_id=str(other.pk), action_flag=DELETION).count() == 1
    confirmed = {"post": "yes", "typed_name": "a@example.com"}
    answer = support.post(f"/admin/agency/member/{owner.pk}/delete/", confirmed, follow=True)
    assert b"An agency needs at least one owner." in answer.content
    assert list(Member.objects.all()) == [owner]
    assert ActivityEntry.objects.get(action="member.removed").actor_kind == "staff"


def test_members_are_found_by_the_beginning_of_their_address(support: Client, agency: Agency) -> None:
    for name in ("anna", "berta"):
        add_member(agency=agency, email=f"{name}@example.com", name=name, role="owner", by=SYSTEM)
    content = support.get("/admin/agency/member/", {"q": "ANNA@"}).content
    assert b"anna" in content
    assert b"berta" not in content


def test_a_superuser_invites_a_colleague_and_makes_them_staff(support: Client) -> None:
    assert support.post("/admin/agency/user/add/", {"email": "C@example.com", "name": "C"}).status_code == 302
    colleague = User.objects.get(email="c@example.com")
    assert not colleague.has_usable_password()
    assert Mail.objects.get(user=colleague).kind == Mail.Kind.PASSWORD_RESET
    group = Group.objects.create(name="readers")
    page = f"/admin/agency/user/{colleague.pk}/change/"
    assert support.post(page, {**FORM, "is_staff": "on", "groups": [group.pk]}).status_code == 302
    colleague.refresh_from_db()
    assert (colleague.name, colleague.is_staff, colleague.is_superuser) == ("Somebody", True, False)
    assert list(colleague.groups.all()) == [group]
    changes = ActivityEntry.objects.get(action="user.changed").changes
    assert changes["is_staff"] == [False, True]
    assert changes["groups"] == [[], ["readers"]]


def test_an_address_is_invited_once(support: Client, person: Callable[..., User]) -> None:
    person("taken@example.com")
    page = support.post("/admin/agency/user/add/", {"email": "Taken@example.com", "name": "C"}, follow=True)
    assert b"already exists" in page.content
    assert User.objects.filter(email="taken@example.com").count() == 1


def test_shutting_a_person_out_ends_what_they_do(
    support: Client, person: Callable[..., User], sign_in: Callable[[User], Client]
) -> None:
    colleague = people_staff(person)
    browser = sign_in(colleague)
    assert browser.get("/admin/agency/user/").status_code == 200
    support.post(f"/admin/agency/user/{colleague.pk}/change/", {"name": "Somebody", "is_staff": "on"})
    assert browser.get("/admin/agency/user/").status_code == 302


def test_a_link_to_set_a_password_is_mailed(support: Client, person: Callable[..., User]) -> None:
    somebody = person()
    page = f"/admin/agency/user/{somebody.pk}/reset/"
    assert support.get(page).status_code == 405
    assert support.post(page).status_code == 302
    assert Mail.objects.get(user=somebody).kind == Mail.Kind.PASSWORD_RESET
    assert support.post("/admin/agency/user/999999/reset/").status_code == 404


def test_staff_cannot_give_themselves_rights(person: Callable[..., User], sign_in: Callable[[User], Client]) -> None:
    colleague = people_staff(person)
    group = Group.objects.create(name="everything")
    browser = sign_in(colleague)
    fields = {**FORM, "is_staff": "on", "is_superuser": "on", "groups": [group.pk]}
    assert browser.post(f"/admin/agency/user/{colleague.pk}/change/", fields).status_code == 403
    somebody = person()
    assert browser.post(f"/admin/agency/user/{somebody.pk}/change/", fields).status_code == 302
    somebody.refresh_from_db()
    assert (somebody.name, somebody.is_staff, somebody.is_superuser) == ("Somebody", False, False)
    assert not somebody.groups.exists()


def test_staff_cannot_touch_support_or_invite_anybody(
    person: Callable[..., User], sign_in: Callable[[User], Client], superuser: User
) -> None:
    browser = sign_in(people_staff(person))
    assert browser.post(f"/admin/agency/user/{superuser.pk}/change/", {"name": "X"}).status_code == 403
    assert browser.post(f"/admin/agency/user/{superuser.pk}/reset/").status_code == 403
    assert browser.post("/admin/agency/user/add/", {"email": "d@example.com", "name": "D"}).status_code == 403
    assert User.objects.get(pk=superuser.pk).is_active
