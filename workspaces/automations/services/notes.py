"""The activity entry of an automation's change."""

from typing import Any

from agency.actors import Actor
from agency.services import record_activity
from workspaces.automations.models import Automation
from workspaces.automations.services.errors import AutomationNotFound


def note_automation(automation: Automation, action: str, by: Actor, **details: Any) -> None:
    workspace = automation.workspace
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("automation", automation.uuid, automation.name),
        details=details,
    )


def lock_automation(automation: Automation) -> Automation:
    """Re-read the row under its lock, with its workspace; the caller is inside a transaction.

    Raises `AutomationNotFound` for one that was removed meanwhile.
    """
    rows = Automation.objects.select_for_update(of=("self",), no_key=True).select_related("workspace", "published")
    locked: Automation | None = rows.filter(pk=automation.pk).first()
    if locked is None:
        raise AutomationNotFound
    return locked
