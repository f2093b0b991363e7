"""Records of changes: activity entries, and events of the agency or of the workspace."""

from datetime import datetime
from typing import Any

from agency.actors import Actor
from agency.models import Addon, Plan
from agency.services import record_activity, record_event
from agency.services.activity import Changes
from agency.tenants import Tenant
from workspaces.subaccounts.models import Workspace


def record_sub_account_event(*, workspace: Workspace, event: str, now: datetime, **more: Any) -> None:
    """Record an agency event about a sub-account. Its data holds the workspace and `more`, such as a plan."""
    record_event(
        tenant=Tenant(workspace.agency_id),
        name=event,
        data={"workspace": workspace, **more},
        now=now,
        workspace_uuid=workspace.uuid,
    )


def tenant_of(workspace: Workspace) -> Tenant:
    """Give the workspace as the tenant of its events, endpoints and deliveries."""
    return Tenant(workspace.agency_id, workspace.pk, workspace.uuid)


def record_workspace_event(*, workspace: Workspace, name: str, now: datetime, **data: Any) -> None:
    """Record an event for the workspace's own webhooks, in the change's transaction. Nothing without subscribers.

    `data` holds the objects under the names that the event type gives them: `product=product, changes={…}`.
    """
    record_event(tenant=tenant_of(workspace), name=name, data=data, now=now)


def record_workspace_activity(
    *,
    workspace: Workspace,
    action: str,
    by: Actor,
    details: dict[str, Any] | None = None,
    changes: Changes | None = None,
) -> None:
    """Add an entry to the activity log of the agency and the sub-account."""
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("workspace", workspace.uuid, workspace.name),
        details=details,
        changes=changes,
    )


def plan_reference(plan: Plan | None) -> dict[str, str] | None:
    """`{uuid, name}`, or None for a sub-account without a plan."""
    return {"uuid": str(plan.uuid), "name": plan.name} if plan else None


def addon_reference(addon: Addon) -> dict[str, str]:
    """`{uuid, name}`."""
    return {"uuid": str(addon.uuid), "name": addon.name}
