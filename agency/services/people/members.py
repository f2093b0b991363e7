"""The people of an agency's console and their roles."""

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, Member, User
from agency.services.activity import record_activity
from agency.services.activity.fields import Changes
from agency.services.agencies import lock_agency
from agency.services.people.names import require_plain_names
from config.errors import Conflict, InvalidInput, NotFound


class AlreadyAMember(InvalidInput):
    field = "email"
    message = "This person is already in the team."


class MemberNotFound(NotFound):
    message = "Member not found."


class LastOwner(Conflict):
    message = "An agency needs at least one owner."


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
    require_plain_names(name=name)
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
