"""How automations read on the workspace surface."""

from typing import Any

from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.models import Automation


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
