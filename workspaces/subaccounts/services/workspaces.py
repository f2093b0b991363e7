"""Changes of a sub-account's fields, and its suspension."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.services.agencies import require_no_web_addresses
from config.db import database_now, name_key, violated_constraint
from config.errors import InvalidInput, NotFound
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import record_sub_account_event, record_workspace_activity
from workspaces.subaccounts.services.settings.opening_hours import hours_as_text
from workspaces.subaccounts.services.settings.values import checked_settings


class WorkspaceNotFound(NotFound):
    message = "Sub-account not found."


class ExternalIdTaken(InvalidInput):
    field = "external_id"
    message = "Another sub-account has this external id."


class WorkspaceChanges(TypedDict, total=False):
    """The fields that may be changed at any time. A field left out stays."""

    name: str
    business_type: str | None
    timezone: str
    external_id: str | None
    metadata: dict[str, str]
    currency: str
    opening_hours: Mapping[str, list[list[str]]]
    address: str
    phone: str
    email: str
    website: str
    booking_link: str
    review_link: str
    menu_link: str
    two_factor_required: bool
    first_steps_hidden: bool


def save_workspace(workspace: Workspace, **options: Any) -> None:
    """Save a row. Raises `ExternalIdTaken`, after which the caller's transaction cannot go on."""
    try:
        workspace.save(**options)
    except IntegrityError as error:
        if violated_constraint(error) == "workspace_external_id_once_per_agency":
            raise ExternalIdTaken from error
        raise


@transaction.atomic
def change_workspace(*, workspace: Workspace, by: Actor, **changes: Unpack[WorkspaceChanges]) -> Workspace:
    """Change a sub-account's fields and settings. Fields left out stay.

    Raises `ExternalIdTaken`, `OpeningHoursRefused`, `SettingRefused`.
    """
    require_no_web_addresses(name=changes.get("name", ""))
    wanted = checked_settings(changes)
    workspace = lock_workspace(workspace)
    if "external_id" in wanted:
        wanted["external_id"] = wanted["external_id"] or None
    before = {field: getattr(workspace, field) for field in wanted}
    changed = {field: value for field, value in wanted.items() if before[field] != value}
    for field, value in changed.items():
        setattr(workspace, field, value)
    if changed:
        workspace.name_key = name_key(workspace.name)
        save_workspace(workspace, update_fields=[*changed, "name_key"])
        details = {"metadata": _changed_names(before["metadata"], changed["metadata"])} if "metadata" in changed else {}
        made = {field: _as_text(field, before[field], value) for field, value in changed.items()}
        record_workspace_activity(workspace=workspace, action="workspace.changed", by=by, details=details, changes=made)
    return workspace


def _changed_names(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Give the names of the changed metadata. The values are left out, because they may be long and personal."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _as_text(field: str, before: Any, after: Any) -> tuple[Any, Any]:
    """Give a field's former and new value, with opening hours as a line of text."""
    return (hours_as_text(before), hours_as_text(after)) if field == "opening_hours" else (before, after)


@transaction.atomic
def suspend_workspace(*, workspace: Workspace, now: datetime, by: Actor, reason: str = "") -> Workspace:
    """Suspend a sub-account. A suspended one stays as it is, without an event."""
    workspace = lock_workspace(workspace)
    if workspace.is_active:
        workspace.status, workspace.suspended_at = Workspace.Status.SUSPENDED, now
        workspace.suspension_reason = reason
        workspace.save(update_fields=["status", "suspended_at", "suspension_reason"])
        record_workspace_activity(workspace=workspace, action="workspace.suspended", by=by, details={"reason": reason})
        record_sub_account_event(workspace=workspace, event=events.WORKSPACE_SUSPENDED, now=now)
    return workspace


@transaction.atomic
def restore_workspace(*, workspace: Workspace, now: datetime, by: Actor) -> Workspace:
    """Lift a sub-account's suspension. An active one stays as it is, without an event."""
    workspace = lock_workspace(workspace)
    if not workspace.is_active:
        workspace.status, workspace.suspended_at = Workspace.Status.ACTIVE, None
        workspace.suspension_reason, workspace.restored_at = "", database_now()
        workspace.save(update_fields=["status", "suspended_at", "suspension_reason", "restored_at"])
        record_workspace_activity(workspace=workspace, action="workspace.restored", by=by)
        record_sub_account_event(workspace=workspace, event=events.WORKSPACE_RESTORED, now=now)
    return workspace
