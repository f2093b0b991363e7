"""The people of an agency's console and their roles, and changes of users."""

from collections.abc import Iterable
from typing import Final, TypedDict, Unpack
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, Invitation, Mail, Member, PendingSignUp, User
from agency.services.activity import Changes, record_activity
from agency.services.agencies import lock_agencies, lock_agency, require_no_web_addresses
from agency.services.mail.queue import queue_mail
from agency.services.two_factor import delete_two_factor
from config.errors import Conflict, InvalidInput, NotFound

MOST_OWNERS_NAMED: Final = 3


class AlreadyAMember(InvalidInput):
    field = "email"
    message = "This person is already in the team."


class MemberNotFound(NotFound):
    message = "Member not found."


class LastOwner(Conflict):
    message = "An agency needs at least one owner."


def names_of_owners(agency: Agency) -> list[str]:
    """Return the names of a few owners, for people who need to ask one."""
    owners = Member.objects.filter(agency=agency, role=Member.Role.OWNER).select_related("user").order_by("id")
    return [owner.user.name or owner.user.email for owner in owners[:MOST_OWNERS_NAMED]]


@transaction.atomic
def add_member(*, agency: Agency, email: str, name: str, role: str, by: Actor) -> Member:
    """Give a person a role without asking them, for operators who hand over a password; all others are invited."""
    user, _ = find_or_create_user(email=email, name=name)
    return join_team(agency=agency, user=user, role=role, by=by)


def join_team(*, agency: Agency, user: User, role: str, by: Actor) -> Member:
    """Make a person a member; the caller is inside a transaction. Raises `AlreadyAMember`."""
    member, is_new = Member.objects.get_or_create(agency=agency, user=user, defaults={"role": role})
    if not is_new:
        raise AlreadyAMember
    _record(member, "member.added", by)
    return member


@transaction.atomic
def change_role(*, member: Member, role: str, by: Actor) -> Member:
    """Change a member's role; the last owner stays one. Raises `MemberNotFound` for a member who has left meanwhile."""
    member = _lock(member)
    if member.role == role:
        return member
    _keep_an_owner(member, leaves=role != Member.Role.OWNER)
    changes = {"role": (member.role, role)}
    member.role = role
    member.save(update_fields=["role"])
    _record(member, "member.role_changed", by, changes)
    return member


@transaction.atomic
def remove_member(*, member: Member, by: Actor) -> None:
    """Remove a person from the agency, from their next page on. Raises `MemberNotFound` for a member who has left.

    The last owner stays. All others may leave by themselves; the log says whether they left or were removed.
    """
    member = _lock(member)
    _keep_an_owner(member, leaves=True)
    leaves_alone = by.kind == "user" and by.id == str(member.user_id)
    _record(member, "member.left" if leaves_alone else "member.removed", by)
    member.delete()


def find_or_create_user(*, email: str, name: str) -> tuple[User, bool]:
    """Return the person with this e-mail address, and whether they were created, without a password.

    The statements are the same in both cases, so they do not show whether the address was known.
    """
    require_no_web_addresses(name=name)
    new = User(email=email.strip().lower(), name=name)
    new.set_unusable_password()
    User.objects.bulk_create([new], ignore_conflicts=True)
    user = User.objects.get(email=new.email)
    return user, user.password == new.password


def _lock(member: Member) -> Member:
    """Re-read a member under the agency's lock, so that changes of its team come one after another."""
    lock_agency(member.agency_id)
    found = Member.objects.select_related("user").filter(pk=member.pk).first()
    if found is None:
        raise MemberNotFound
    return found


def _keep_an_owner(member: Member, *, leaves: bool) -> None:
    if not leaves or member.role != Member.Role.OWNER:
        return
    owners = Member.objects.filter(agency_id=member.agency_id, role=Member.Role.OWNER)
    if not owners.exclude(pk=member.pk).exists():
        raise LastOwner


def _record(member: Member, action: str, by: Actor, changes: Changes | None = None) -> None:
    """Record what happened to a member: with their role, or with the roles before and after."""
    target = ("member", member.pk, member.user.email)
    details = None if changes else {"role": member.role}
    record_activity(by=by, action=action, agency_id=member.agency_id, target=target, details=details, changes=changes)


class UserChanges(TypedDict, total=False):
    """What can be changed of a person, besides their groups of rights."""

    name: str
    is_active: bool
    is_staff: bool
    is_superuser: bool
    language: str
    time_zone: str
    plays_sound: bool


class AlreadyAPerson(InvalidInput):
    field = "email"
    message = "There is a person with this e-mail address already."


@transaction.atomic
def invite_user(*, email: str, name: str, by: Actor) -> User:
    """Create a person without any membership, and send a link to set a password. Raises `AlreadyAPerson`."""
    user, is_new = find_or_create_user(email=email, name=name)
    if not is_new:
        raise AlreadyAPerson
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={})
    record_activity(by=by, action="user.invited", agency_id=None, target=("user", user.pk, user.email))
    return user


@transaction.atomic
def change_user(
    *, user: User, by: Actor, groups: Iterable[Group] | None = None, **changes: Unpack[UserChanges]
) -> User:
    """Change a person or their groups of rights; a person who may no longer sign in is shut out at once."""
    require_no_web_addresses(name=changes.get("name", ""))
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    made: dict[str, tuple[object, object]] = {}
    for field, value in changes.items():
        before = getattr(user, field)
        if before != value:
            made[field] = (before, value)
            setattr(user, field, value)
    user.save(update_fields=list(made))
    if groups is not None:
        made |= _set_groups(user, groups)
    if made:
        target = ("user", user.pk, user.email)
        record_activity(by=by, action="user.changed", agency_id=None, target=target, changes=made)
    return user


def remember_landing(
    *, user: User, landing: str, agency_uuid: UUID | None = None, workspace_uuid: UUID | None = None
) -> None:
    """Save where a person has chosen to be; they arrive there at the next sign-in."""
    user.landing = landing
    user.chosen_agency = agency_uuid or user.chosen_agency
    user.chosen_workspace = workspace_uuid or user.chosen_workspace
    user.save(update_fields=["landing", "chosen_agency", "chosen_workspace"])


def agencies_of(user: User) -> set[int]:
    """Return the ids of the agencies whose team a person is in, or that have invited them."""
    invited = Invitation.objects.filter(email=user.email).values_list("agency", flat=True)
    return {*user.memberships.values_list("agency", flat=True), *invited}


@transaction.atomic
def erase_user(*, user: User, email: str, by: Actor) -> None:
    """Remove a person from every team and leave a row without name, address and rights, which can never sign in.

    `email` takes the address's place. Raises `LastOwner` if an agency would be left without an owner.
    """
    lock_agencies(agencies_of(user))  # before the person, in the order of the service that accepts an invitation
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    for member in user.memberships.select_related("user"):
        remove_member(member=member, by=by)
    Invitation.objects.filter(email=user.email).delete()
    Mail.objects.filter(recipient=user.email).delete()
    PendingSignUp.objects.filter(email=user.email).delete()
    user.saved_views.all().delete()
    delete_two_factor(user)
    user.groups.clear()
    user.user_permissions.clear()
    user.email, user.name, user.last_login = email, "", None
    user.landing, user.chosen_agency, user.chosen_workspace = "", None, None
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    record_activity(by=by, action="user.erased", agency_id=None, target=("user", user.pk, email))


def _set_groups(user: User, groups: Iterable[Group]) -> dict[str, tuple[object, object]]:
    before, after = sorted(group.name for group in user.groups.all()), sorted(group.name for group in groups)
    user.groups.set(groups)
    return {"groups": (before, after)} if before != after else {}
