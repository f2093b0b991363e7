"""The people of a workspace: the list, the seats they take, invitations of members, and their removal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.models import Invitation, Mail, User
from agency.models.people import WORKSPACE_MEMBER
from agency.services import InvitationEnded, InvitationNotFound, record_activity
from agency.services.agencies import lock_agency, require_no_web_addresses
from agency.services.invitations import (
    MOST_WAITING,
    AlreadyInvited,
    InvitationHandler,
    TooManyInvitations,
    end_invitation,
    open_invitation,
    record_invitation,
    renew_invitation,
    without_network_address,
)
from config.errors import InvalidInput, NotFound
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services.notifications import notify_of_new_person
from workspaces.subaccounts.services.recording import lock_workspace
from workspaces.subaccounts.services.subscription import check_limit


class AlreadyInTheWorkspace(InvalidInput):
    field = "email"
    message = "This person is in this workspace already."


class WorkspaceMemberNotFound(NotFound):
    message = "Member not found."


@dataclass(frozen=True, slots=True)
class MemberRemovalHandler:
    """A higher app's clean-up after a person leaves a workspace. It runs in the same transaction."""

    name: str
    release: Callable[[Workspace, User, datetime], None]


member_removal_handlers = Registry[MemberRemovalHandler](
    "handlers of removed members",
    called="`run_removal_handlers` calls each in the order of the apps, under the workspace's lock, after the removal",
    transaction="the caller's",
    failure="rolls the caller back",
)


def people_of(workspace: Workspace) -> "QuerySet[User]":
    """Give the people who work in a workspace: its members, and its owner if they have accepted it."""
    owner = Workspace.objects.filter(pk=workspace.pk, owner_pending_since=None).values("owner")
    return User.objects.filter(pk__in=owner.union(workspace.members.values("user"), all=True))


def waiting_invitations(workspace: Workspace) -> "QuerySet[Invitation]":
    """Give the unanswered invitations to become a member of a workspace, expired ones included."""
    return Invitation.objects.to_work_in(workspace.uuid).waiting()


def invitation_names(invitations: Sequence[Invitation]) -> list[dict[str, str]]:
    """Give the names of the agency and the workspace of each invitation, in their order."""
    uuids = [cast(UUID, one.workspace_uuid) for one in invitations]
    names = dict(Workspace.objects.filter(uuid__in=uuids).values_list("uuid", "name"))
    return [
        {"agency": one.agency.name, "workspace": names.get(uuid, "")}
        for one, uuid in zip(invitations, uuids, strict=True)
    ]


def used_seats(workspace: Workspace, now: datetime) -> int:
    """Count the owner, the members, and the invitations that can still be accepted."""
    members = workspace.members.order_by().values("pk")
    invitations = waiting_invitations(workspace).filter(expires_at__gt=now).values("pk")
    return 1 + members.union(invitations, all=True).count()


def has_person_with_email(workspace: Workspace, email: str) -> bool:
    """Say whether this address is that of a member or of the owner, even if the owner has not accepted yet."""
    is_member: bool = workspace.members.filter(user__email=email).exists()
    return workspace.owner_email == email or is_member


@transaction.atomic
def remove_workspace_member(*, member: WorkspaceMember, now: datetime, by: Actor) -> None:
    """Remove a member. The workspace is closed to them from their next page on, and their assignments end.

    Raises `WorkspaceMemberNotFound` if the member has left meanwhile.
    """
    workspace = _lock(member.workspace)
    found = workspace.members.select_related("user").filter(pk=member.pk).first()
    if found is None:
        raise WorkspaceMemberNotFound
    leaves_alone = by.kind == "user" and by.id == str(found.user_id)
    record_member(found, "workspace_member.left" if leaves_alone else "workspace_member.removed", by)
    found.delete()
    run_removal_handlers(workspace, found.user, now)


def run_removal_handlers(workspace: Workspace, user: User, now: datetime) -> None:
    """Call every app's clean-up for a person who has left. The caller holds the workspace's lock."""
    for handler in member_removal_handlers:
        handler.release(workspace, user, now)


def record_member(member: WorkspaceMember, action: str, by: Actor) -> None:
    workspace = member.workspace
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("workspace_member", member.uuid, member.user.email),
    )


def _lock(workspace: Workspace) -> Workspace:
    """Lock the agency, then the workspace, so that changes of its people happen one after another."""
    lock_agency(workspace.agency_id)
    return lock_workspace(workspace)


SEATS = "team_members"


@transaction.atomic
def invite_workspace_member(*, workspace: Workspace, email: str, name: str, now: datetime, by: Actor) -> Invitation:
    """Invite an address to work in a workspace, whether or not it has an account. The invitation takes a seat at once.

    An expired invitation of the address is withdrawn first. Raises `AlreadyInTheWorkspace`, `AlreadyInvited`,
    `TooManyInvitations` and `LimitReached`.
    """
    require_no_web_addresses(name=name)
    email = email.strip().lower()
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    if has_person_with_email(workspace, email):
        raise AlreadyInTheWorkspace
    waiting = waiting_invitations(workspace)
    for expired in waiting.filter(email=email, expires_at__lte=now).select_for_update():
        end_invitation(expired, Invitation.Status.WITHDRAWN, now)
    if waiting.filter(email=email).exists():
        raise AlreadyInvited
    if waiting.count() >= MOST_WAITING:
        raise TooManyInvitations
    check_limit(workspace=workspace, name=SEATS, used=used_seats(workspace, now))
    invitation = open_invitation(
        agency=workspace.agency,
        workspace_uuid=workspace.uuid,
        email=email,
        name=name,
        role=WORKSPACE_MEMBER,
        names={"agency": workspace.agency.name, "workspace": workspace.name},
        now=now,
        by=by,
    )
    record_invitation(invitation, "workspace_member.invited", by)
    return invitation


@transaction.atomic
def resend_member_invitation(*, workspace: Workspace, invitation: Invitation, now: datetime, by: Actor) -> Invitation:
    """Send an invitation again. Its link works for another seven days. An expired invitation needs a free seat.

    Raises `InvitationNotFound` if it was answered, and `LimitReached`.
    """
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    current = waiting_invitations(workspace).filter(pk=invitation.pk).first()
    if current is None:
        raise InvitationNotFound
    if current.expires_at <= now:
        check_limit(workspace=workspace, name=SEATS, used=used_seats(workspace, now))
    invitation = renew_invitation(current, now)
    record_invitation(invitation, "invitation.sent_again", by)
    return invitation


def _accept(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    """Make the user a member on the invitation's seat. Raises `LimitReached` if the plan allows less by now."""
    workspace = _lock_workspace_of(invitation)
    if has_person_with_email(workspace, user.email):
        raise AlreadyInTheWorkspace
    check_limit(workspace=workspace, name=SEATS, used=1 + workspace.members.count())
    member = WorkspaceMember.objects.create(workspace=workspace, user=user, created_at=now)
    record_member(member, "workspace_member.joined", by)
    notify_of_new_person(member, now=now)


def _decline(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    record_invitation(invitation, "invitation.declined", without_network_address(by))


def _lock_workspace_of(invitation: Invitation) -> Workspace:
    found = Workspace.objects.select_for_update(no_key=True).filter(uuid=cast(UUID, invitation.workspace_uuid)).first()
    if found is None:
        raise InvitationEnded
    workspace: Workspace = found
    return workspace


MEMBERSHIP = InvitationHandler("workspace_member", Mail.Kind.WORKSPACE_INVITATION, _accept, _decline, invitation_names)
