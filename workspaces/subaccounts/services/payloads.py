"""How a sub-account, a plan and an add-on read in an event."""

from typing import Any

from agency.models import Addon, Plan
from workspaces.subaccounts.models import Workspace


def plan_reference(plan: Plan | None) -> dict[str, str] | None:
    """`{uuid, name}`, or None for a sub-account without a plan."""
    return {"uuid": str(plan.uuid), "name": plan.name} if plan else None


def addon_reference(addon: Addon) -> dict[str, str]:
    """`{uuid, name}`."""
    return {"uuid": str(addon.uuid), "name": addon.name}


def workspace_payload(workspace: Workspace) -> dict[str, Any]:
    """`{uuid, name, status, plan}`."""
    return {
        "uuid": str(workspace.uuid),
        "name": workspace.name,
        "status": workspace.status,
        "plan": plan_reference(workspace.plan),
    }
