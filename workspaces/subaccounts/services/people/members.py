"""The people of a workspace: the list, the seats they take, and the removal of a member."""

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
from config.errors import InvalidInput, NotFound
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services.locking import lock_workspace


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
    called="`release_all` calls each in the order of the apps, under the workspace's lock, after the person has left",
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


def workspace_names(invitations: Sequence[Invitation]) -> list[dict[str, str]]:
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


def is_in(workspace: Workspace, email: str) -> bool:
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
    release_all(workspace, found.user, now)


def release_all(workspace: Workspace, user: User, now: datetime) -> None:
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
