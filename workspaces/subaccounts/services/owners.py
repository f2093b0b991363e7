"""The person who owns a sub-account: invited, replaced."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.models import Mail, User
from agency.services import queue_mail
from agency.services.members import find_or_create_user
from config.errors import Conflict
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import owner_key
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import record_workspace_activity


class OwnerHasPassword(Conflict):
    message = "The owner of this sub-account has set a password already."


def set_owner(workspace: Workspace, *, owner: User, name: str) -> None:
    """Write down who owns a sub-account and what the agency calls them; nothing is saved."""
    workspace.owner, workspace.owner_name, workspace.owner_email = owner, name, owner.email
    workspace.owner_key = owner_key(name, owner.email)


def invite_owner(workspace: Workspace) -> bool:
    """Queue the e-mail with a link to set a password; says whether the owner has none yet and so gets one."""
    if workspace.owner.has_usable_password():
        return False
    context = {"agency": workspace.agency.name, "workspace": workspace.name}
    queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=workspace.owner, context=context)
    return True


@transaction.atomic
def change_owner(*, workspace: Workspace, name: str, email: str, now: datetime, by: Actor) -> Workspace:
    """Hand a sub-account over to the person with this e-mail, who is invited if they have no password yet."""
    owner, _ = find_or_create_user(email=email, name=name)
    is_another = lock_workspace(workspace).owner_id != owner.pk
    workspace = replace_owner(workspace=workspace, owner=owner, name=name, by=by)
    if is_another:
        invite_owner(workspace)
    return workspace


@transaction.atomic
def replace_owner(*, workspace: Workspace, owner: User, by: Actor, name: str = "") -> Workspace:
    """Hand a sub-account over to another person, called by this name or their own; the owner it has changes nothing."""
    workspace = lock_workspace(workspace)
    before = (workspace.owner_id, workspace.owner_name, workspace.owner_email)
    set_owner(workspace, owner=owner, name=name or owner.name or owner.email)
    if (workspace.owner_id, workspace.owner_name, workspace.owner_email) != before:
        workspace.save(update_fields=["owner", "owner_name", "owner_email", "owner_key"])
        details = {"email": {"from": before[2], "to": workspace.owner_email}}
        record_workspace_activity(workspace=workspace, action="workspace.owner_replaced", by=by, details=details)
    return workspace


@transaction.atomic
def invite_owner_again(*, workspace: Workspace, now: datetime, by: Actor) -> Workspace:
    """Send the owner another link to set a password. Raises `OwnerHasPassword`."""
    workspace = lock_workspace(workspace)
    if not invite_owner(workspace):
        raise OwnerHasPassword
    record_workspace_activity(workspace=workspace, action="workspace.owner_invited", by=by)
    return workspace
