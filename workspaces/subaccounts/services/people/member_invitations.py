"""Invitations to become a member of a workspace: sent, sent again, accepted, declined."""

from datetime import datetime
from typing import cast
from uuid import UUID

from django.db import transaction

from agency.actors import Actor
from agency.models import Invitation, Mail, User
from agency.models.people import WORKSPACE_MEMBER
from agency.services import InvitationEnded, InvitationNotFound
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
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.notifications import notify_of_new_person
from workspaces.subaccounts.services.people.members import (
    AlreadyInTheWorkspace,
    is_in,
    record_member,
    used_seats,
    waiting_invitations,
    workspace_names,
)
from workspaces.subaccounts.services.subscription.limits import require_room

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
    if is_in(workspace, email):
        raise AlreadyInTheWorkspace
    waiting = waiting_invitations(workspace)
    for expired in waiting.filter(email=email, expires_at__lte=now).select_for_update():
        end_invitation(expired, Invitation.Status.WITHDRAWN, now)
    if waiting.filter(email=email).exists():
        raise AlreadyInvited
    if waiting.count() >= MOST_WAITING:
        raise TooManyInvitations
    require_room(workspace=workspace, name=SEATS, used=used_seats(workspace, now))
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
def send_member_invitation_again(
    *, workspace: Workspace, invitation: Invitation, now: datetime, by: Actor
) -> Invitation:
    """Send an invitation again. Its link works for another seven days. An expired invitation needs a free seat.

    Raises `InvitationNotFound` if it was answered, and `LimitReached`.
    """
    lock_agency(workspace.agency_id)
    workspace = lock_workspace(workspace)
    current = waiting_invitations(workspace).filter(pk=invitation.pk).first()
    if current is None:
        raise InvitationNotFound
    if current.expires_at <= now:
        require_room(workspace=workspace, name=SEATS, used=used_seats(workspace, now))
    invitation = renew_invitation(current, now)
    record_invitation(invitation, "invitation.sent_again", by)
    return invitation


def _accept(*, invitation: Invitation, user: User, now: datetime, by: Actor) -> None:
    """Make the user a member on the invitation's seat. Raises `LimitReached` if the plan allows less by now."""
    workspace = _lock_workspace_of(invitation)
    if is_in(workspace, user.email):
        raise AlreadyInTheWorkspace
    require_room(workspace=workspace, name=SEATS, used=1 + workspace.members.count())
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


MEMBERSHIP = InvitationHandler("workspace_member", Mail.Kind.WORKSPACE_INVITATION, _accept, _decline, workspace_names)
