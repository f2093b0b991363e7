"""What every change of a sub-account leaves behind: an activity entry and, where there is one, its event."""

from datetime import datetime
from typing import Any

from agency.actors import Actor
from agency.models import Addon, Plan
from agency.services import record_activity, record_event
from agency.tenants import Tenant
from workspaces.subaccounts.models import Workspace


def record_workspace_event(*, workspace: Workspace, event: str, now: datetime, **more: Any) -> None:
    """Record an agency event about a sub-account; `more` (a plan, an add-on) joins the workspace in its data."""
    record_event(
        tenant=Tenant(workspace.agency_id),
        name=event,
        data={"workspace": workspace, **more},
        now=now,
        workspace_uuid=workspace.uuid,
    )


def record_workspace_activity(
    *, workspace: Workspace, action: str, by: Actor, details: dict[str, Any] | None = None
) -> None:
    """Add an entry to the agency's and the sub-account's activity."""
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("workspace", workspace.uuid, workspace.name),
        details=details,
    )


def plan_reference(plan: Plan | None) -> dict[str, str] | None:
    """`{uuid, name}`, or None for a sub-account without a plan."""
    return {"uuid": str(plan.uuid), "name": plan.name} if plan else None


def addon_reference(addon: Addon) -> dict[str, str]:
    """`{uuid, name}`."""
    return {"uuid": str(addon.uuid), "name": addon.name}
