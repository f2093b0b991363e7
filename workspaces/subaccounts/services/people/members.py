"""The people of a workspace: who they are, how many seats they take, and what happens when one goes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.models import Invitation, User
from agency.services import record_activity
from agency.services.agencies import lock_agency
from config.errors import Invalid, NotFound
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services.locking import lock_workspace


class AlreadyInTheWorkspace(Invalid):
    field = "email"
    message = "This person is in this workspace already."


class WorkspaceMemberNotFound(NotFound):
    message = "Member not found."


@dataclass(frozen=True, slots=True)
class MemberRemovalHandler:
    """What a higher app takes from somebody who no longer works in a workspace, in the same transaction."""

    name: str
    release: Callable[[Workspace, User, datetime], None]


member_removal_handlers = Registry[MemberRemovalHandler]("handlers of removed members")


def people_of(workspace: Workspace) -> "QuerySet[User]":
    """Give the people who work in a workspace: its owner, once they have accepted it, and its members."""
    owner = Workspace.objects.filter(pk=workspace.pk, owner_pending_since=None).values("owner")
    return User.objects.filter(pk__in=owner.union(workspace.members.values("user"), all=True))


def waiting_invitations(workspace: Workspace) -> "QuerySet[Invitation]":
    """Give the invitations to a workspace's people that nobody has answered, expired ones too."""
    return Invitation.objects.to_work_in(workspace.uuid).waiting()


def workspace_names(invitations: Sequence[Invitation]) -> list[dict[str, str]]:
    """Give what invitations to workspaces name: agency and workspace of each, in their order."""
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


def is_in(workspace: Workspace, email: str) -> bool:
    """Say whether somebody with this address owns the workspace, were they only asked to, or works in it."""
    is_member: bool = workspace.members.filter(user__email=email).exists()
    return workspace.owner_email == email or is_member


@transaction.atomic
def remove_workspace_member(*, member: WorkspaceMember, now: datetime, by: Actor) -> None:
    """Take a person out of a workspace; their next page shows it. What was assigned to them is nobody's.

    Raises `WorkspaceMemberNotFound` for one who has left meanwhile.
    """
    workspace = _lock(member.workspace)
    found = workspace.members.select_related("user").filter(pk=member.pk).first()
    if found is None:
        raise WorkspaceMemberNotFound
    leaves_alone = by.kind == "user" and by.id == str(found.user_id)
    record_member(found, "workspace_member.left" if leaves_alone else "workspace_member.removed", by)
    found.delete()
    release_all(workspace, found.user, now)


def release_all(workspace: Workspace, user: User, now: datetime) -> None:
    """Have every app take back what was assigned to somebody who has gone; the caller holds the workspace's lock."""
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
    """Hold the agency, then the workspace: changes of its people come one after another."""
    lock_agency(workspace.agency_id)
    return lock_workspace(workspace)
