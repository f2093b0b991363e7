"""How sub-accounts and channels read on both surfaces."""

from typing import Any

from workspaces.automations.registry import STEPS, TRIGGERS
from workspaces.models import Automation, Channel, Workspace


def card(workspace: Workspace) -> dict[str, Any]:
    """The card of a sub-account, everywhere one is returned."""
    plan = workspace.plan
    return {
        "uuid": workspace.uuid,
        "name": workspace.name,
        "status": workspace.status,
        "plan": {"uuid": plan.uuid, "name": plan.name} if plan else None,
        "owner": {"name": workspace.owner_name, "email": workspace.owner_email},
        "business_type": workspace.business_type,
        "timezone": workspace.timezone,
        "created_at": workspace.created_at,
        "suspended_at": workspace.suspended_at,
    }


def channel_card(channel: Channel) -> dict[str, Any]:
    """`{id, platform, name, status, handle, connected_at}`."""
    return {
        "id": channel.uuid,
        "platform": channel.platform,
        "name": channel.name,
        "status": channel.status,
        "handle": channel.handle,
        "connected_at": channel.connected_at,
    }


def automation_card(automation: Automation) -> dict[str, Any]:
    """An automation in a list, which carries its published version's number in `version`."""
    trigger = TRIGGERS.get(automation.trigger)
    published = automation.published
    return {
        "id": automation.uuid,
        "name": automation.name,
        "platform": automation.platform,
        "enabled": automation.enabled,
        "trigger": {"type": automation.trigger, "label": trigger.label if trigger else automation.trigger},
        "version": published.number if published else None,
        "published_at": published.published_at if published else None,
        "requires": automation.requires,
        "created_at": automation.created_at,
        "updated_at": automation.updated_at,
    }


def step_row(step: dict[str, Any]) -> dict[str, Any]:
    """`{id, type, label}` of a step; what it is configured with stays inside the workspace."""
    declared = STEPS.get(step["type"])
    return {"id": step["id"], "type": step["type"], "label": declared.label if declared else step["type"]}
