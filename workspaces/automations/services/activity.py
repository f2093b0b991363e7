"""The activity entry of an automation's change."""

from typing import Any

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes
from workspaces.automations.models import Automation


def record_automation_activity(
    automation: Automation, action: str, by: Actor, changes: Changes | None = None, **details: Any
) -> None:
    """Add an entry about an automation to the agency's and the sub-account's activity."""
    workspace = automation.workspace
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("automation", automation.uuid, automation.name),
        details=details,
        changes=changes,
    )
