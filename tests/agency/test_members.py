"""The people of an agency."""

import pytest

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Mail, Member, User
from agency.services import MemberNotFound, add_member, change_role, remove_member
from agency.services.members import AlreadyAMember, LastOwner
from tests.factories import AgencyFactory, MemberFactory
from tests.parallel import at_once

pytestmark = pytest.mark.django_db


def roles(member: Member) -> list[str]:
    return sorted(Member.objects.filter(agency=member.agency).values_list("role", flat=True))


def test_whoever_is_added_without_being_asked_is_somebody_who_cannot_sign_in_yet() -> None:
    member = MemberFactory.create(email=" New@Example.COM ", name="New")
    assert member.user.email == "new@example.com"
    assert not member.user.has_usable_password()
    assert not Mail.objects.exists()
    assert str(member) == "New (admin)"


def test_nobody_is_added_twice() -> None:
    member = MemberFactory.create()
    with pytest.raises(AlreadyAMember) as refused:
        add_member(agency=member.agency, email=member.user.email, name="X", role=Member.Role.OWNER, by=SYSTEM)
    assert "email" in refused.value.errors
    assert roles(member) == ["admin"]


@pytest.mark.parametrize(("role", "may"), [("owner", True), ("admin", True), ("viewer", False)])
def test_owners_and_admins_may_change_things_and_viewers_may_not(role: str, may: bool) -> None:
    assert MemberFactory.create(role=role).may_change_things is may


def test_roles_change_and_people_are_removed_with_an_entry_each() -> None:
    owner = MemberFactory.create(role="owner")
    other = MemberFactory.create(agency=owner.agency, role="viewer")
    change_role(member=other, role="admin", by=SYSTEM)
    remove_member(member=other, by=SYSTEM)
    assert roles(owner) == ["owner"]
    actions = ActivityEntry.objects.filter(target_name=other.user.email).order_by("id").values_list("action", flat=True)
    assert list(actions) == ["member.added", "member.role_changed", "member.removed"]


def test_the_last_owner_neither_steps_down_nor_leaves() -> None:
    owner = MemberFactory.create(role="owner")
    with pytest.raises(LastOwner):
        change_role(member=owner, role="admin", by=SYSTEM)
    with pytest.raises(LastOwner):
        remove_member(member=owner, by=SYSTEM)
    assert roles(owner) == ["owner"]


def test_whoever_is_no_owner_leaves_an_agency_that_has_none() -> None:
    member = MemberFactory.create(role="admin")
    change_role(member=member, role="viewer", by=SYSTEM)
    remove_member(member=member, by=SYSTEM)
    assert roles(member) == []


def test_the_last_owner_may_be_made_owner_again() -> None:
    owner = MemberFactory.create(role="owner")
    change_role(member=owner, role="owner", by=SYSTEM)
    assert roles(owner) == ["owner"]


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_do_not_leave_the_agency_alone() -> None:
    agency = AgencyFactory.create()
    owners = [MemberFactory.create(agency=agency, role="owner") for _ in range(2)]

    def leave(number: int) -> str:
        try:
            remove_member(member=owners[number], by=SYSTEM)
        except LastOwner:
            return "stays"
        return "leaves"

    assert sorted(at_once(leave, times=2)) == ["leaves", "stays"]


@pytest.mark.django_db(transaction=True)
def test_one_new_person_added_by_two_agencies_at_once_is_one_person() -> None:
    agencies = [AgencyFactory.create() for _ in range(4)]
    at_once(lambda number: MemberFactory.create(agency=agencies[number], email="x@example.com").pk, times=4)
    assert User.objects.filter(email="x@example.com").count() == 1
    assert Member.objects.filter(user__email="x@example.com").count() == 4


def test_a_member_who_has_left_meanwhile_is_neither_changed_nor_removed_again() -> None:
    owner = MemberFactory.create(role="owner")
    member = MemberFactory.create(agency=owner.agency)
    remove_member(member=Member.objects.get(pk=member.pk), by=SYSTEM)
    with pytest.raises(MemberNotFound):
        change_role(member=member, role="viewer", by=SYSTEM)
    with pytest.raises(MemberNotFound):
        remove_member(member=member, by=SYSTEM)
    actions = (
        ActivityEntry.objects.filter(target_name=member.user.email).order_by("id").values_list("action", flat=True)
    )
    assert list(actions) == ["member.added", "member.removed"]
