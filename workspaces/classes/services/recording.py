"""The activity entry of a change of staff or classes."""

from typing import Any

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes
from workspaces.classes.models import ClassSession, Staff
from workspaces.subaccounts.models import Workspace


def record_staff_activity(
    *, workspace: Workspace, staff: Staff, what: str, by: Actor, changes: Changes | None = None
) -> None:
    """Add an entry such as `staff.changed` to the activity log of the agency and the sub-account."""
    _record(workspace, f"staff.{what}", ("staff", staff.uuid, staff.name), by, changes=changes)


def record_class_activity(*, session: ClassSession, what: str, by: Actor) -> None:
    """Add an entry such as `class.cancelled`, with the time at which the class starts."""
    details = {"starts_at": session.starts_at.isoformat()}
    _record(session.workspace, f"class.{what}", ("class", session.uuid, session.service.name), by, details)


def _record(
    workspace: Workspace,
    action: str,
    target: tuple[str, object, str],
    by: Actor,
    details: dict[str, Any] | None = None,
    changes: Changes | None = None,
) -> None:
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=target,
        details=details,
        changes=changes,
    )
