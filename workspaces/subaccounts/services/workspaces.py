"""A sub-account's own fields and its suspension."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.models import User
from config.db import name_key
from config.errors import NotFound
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.opening_hours import hours_as_text
from workspaces.subaccounts.services.recording import record_workspace_activity, record_workspace_event
from workspaces.subaccounts.services.settings import checked_settings


class WorkspaceNotFound(NotFound):
    message = "Sub-account not found."


class WorkspaceChanges(TypedDict, total=False):
    """What may be changed at any time; what is left out stays."""

    name: str
    business_type: str | None
    timezone: str
    currency: str
    opening_hours: Mapping[str, list[list[str]]]
    address: str
    phone: str
    email: str
    website: str
    booking_link: str
    review_link: str
    menu_link: str


@transaction.atomic
def change_workspace(*, workspace: Workspace, by: Actor, **changes: Unpack[WorkspaceChanges]) -> Workspace:
    """Change name, business type, time zone or settings; what is not named stays.

    Raises `OpeningHoursRefused`, `SettingRefused`.
    """
    wanted = checked_settings(changes)
    workspace = lock_workspace(workspace)
    before = {field: getattr(workspace, field) for field in wanted}
    changed = {field: value for field, value in wanted.items() if before[field] != value}
    for field, value in changed.items():
        setattr(workspace, field, value)
    if changed:
        workspace.name_key = name_key(workspace.name)
        workspace.save(update_fields=[*changed, "name_key"])
        details = {
            field: {"from": _for_people(before[field]), "to": _for_people(value)} for field, value in changed.items()
        }
        record_workspace_activity(workspace=workspace, action="workspace.changed", by=by, details=details)
    return workspace


def _for_people(value: Any) -> Any:
    """Give a value as the activity log keeps it: hours in one line."""
    return hours_as_text(value) if isinstance(value, dict) else value


@transaction.atomic
def replace_owner(*, workspace: Workspace, owner: User, by: Actor) -> Workspace:
    """Hand a sub-account over to another person."""
    workspace = lock_workspace(workspace)
    workspace.owner, workspace.owner_name, workspace.owner_email = owner, owner.name or owner.email, owner.email
    workspace.save(update_fields=["owner", "owner_name", "owner_email"])
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
