"""Changes of users: invite, change and erase them, and remember where they were."""

from collections.abc import Iterable
from typing import Any, TypedDict, Unpack
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import transaction

from agency.actors import Actor
from agency.models import Invitation, Mail, PendingSignUp, User
from agency.services.activity import record_activity
from agency.services.agencies import lock_agencies
from agency.services.mail.queue import queue_mail
from agency.services.people.members import find_or_create_user, remove_member
from agency.services.people.names import require_plain_names
from agency.services.people.two_factor import forget_two_factor
from config.errors import InvalidInput


class UserChanges(TypedDict, total=False):
    """What can be changed of a person, besides their groups of rights."""

    name: str
    is_active: bool
    is_staff: bool
    is_superuser: bool
    language: str
    time_zone: str


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
    require_plain_names(name=changes.get("name", ""))
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    made: dict[str, tuple[Any, Any]] = {}
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
    forget_two_factor(user)
    user.groups.clear()
    user.user_permissions.clear()
    user.email, user.name, user.last_login = email, "", None
    user.landing, user.chosen_agency, user.chosen_workspace = "", None, None
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    record_activity(by=by, action="user.erased", agency_id=None, target=("user", user.pk, email))


def _set_groups(user: User, groups: Iterable[Group]) -> dict[str, tuple[Any, Any]]:
    before, after = sorted(group.name for group in user.groups.all()), sorted(group.name for group in groups)
    user.groups.set(groups)
    return {"groups": (before, after)} if before != after else {}
