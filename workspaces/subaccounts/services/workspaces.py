"""A sub-account's own fields and its suspension."""

from datetime import datetime
from typing import TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.models import User
from agency.services.names import require_plain_names
from config.db import name_key
from config.errors import NotFound
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.owners import withdraw_ownership
from workspaces.subaccounts.services.recording import record_workspace_activity, record_workspace_event


class WorkspaceNotFound(NotFound):
    message = "Sub-account not found."


class WorkspaceChanges(TypedDict, total=False):
    """What may be changed at any time; what is left out stays."""

    name: str
    business_type: str | None
    timezone: str


@transaction.atomic
def change_workspace(*, workspace: Workspace, by: Actor, **changes: Unpack[WorkspaceChanges]) -> Workspace:
    """Change name, business type or time zone; what is not named stays."""
    require_plain_names(name=changes.get("name", ""))
    workspace = lock_workspace(workspace)
    before = {field: getattr(workspace, field) for field in changes}
    changed = {field: value for field, value in changes.items() if before[field] != value}
    for field, value in changed.items():
        setattr(workspace, field, value)
    if changed:
        workspace.name_key = name_key(workspace.name)
        workspace.save(update_fields=[*changed, "name_key"])
        details = {field: {"from": before[field], "to": value} for field, value in changed.items()}
        record_workspace_activity(workspace=workspace, action="workspace.changed", by=by, details=details)
    return workspace


@transaction.atomic
def replace_owner(*, workspace: Workspace, owner: User, by: Actor) -> Workspace:
    """Hand a sub-account over to another person without asking them: for the operator's commands alone."""
    workspace = lock_workspace(workspace)
    withdraw_ownership(workspace)
    workspace.owner, workspace.owner_name, workspace.owner_email = owner, owner.name or owner.email, owner.email
    workspace.owner_pending_since = None
    workspace.save(update_fields=["owner", "owner_name", "owner_email", "owner_pending_since"])
    record_workspace_activity(workspace=workspace, action="workspace.owner_replaced", by=by)
    return workspace


@transaction.atomic
def suspend_workspace(*, workspace: Workspace, now: datetime, by: Actor, reason: str = "") -> Workspace:
    """Suspend a sub-account; one that is suspended stays as it is, without an event."""
    workspace = lock_workspace(workspace)
    if workspace.is_active:
        workspace.status, workspace.suspended_at = Workspace.Status.SUSPENDED, now
        workspace.suspension_reason = reason
        workspace.save(update_fields=["status", "suspended_at", "suspension_reason"])
        record_workspace_activity(workspace=workspace, action="workspace.suspended", by=by, details={"reason": reason})
        record_workspace_event(workspace=workspace, event=events.WORKSPACE_SUSPENDED, now=now)
    return workspace


@transaction.atomic
def restore_workspace(*, workspace: Workspace, now: datetime, by: Actor) -> Workspace:
    """Lift a sub-account's suspension; one that is active stays as it is, without an event."""
    workspace = lock_workspace(workspace)
    if not workspace.is_active:
        workspace.status, workspace.suspended_at = Workspace.Status.ACTIVE, None
        workspace.suspension_reason = ""
        workspace.save(update_fields=["status", "suspended_at", "suspension_reason"])
        record_workspace_activity(workspace=workspace, action="workspace.restored", by=by)
        record_workspace_event(workspace=workspace, event=events.WORKSPACE_RESTORED, now=now)
    return workspace
