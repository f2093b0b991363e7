"""The activity log: one row for each change, in the same transaction."""

from typing import Any, Final
from uuid import UUID

from django.db import connection

from agency.actors import Actor
from agency.models import ActivityEntry
from agency.services.activity.fields import Changes, recorded_changes

__all__ = ["record_activity"]

# Reads the first entry of the index for each action, and skips the action's other entries, however many there are.
ACTIONS: Final = """
WITH RECURSIVE found AS (
    (
        SELECT action FROM agency_activityentry WHERE workspace_uuid = %(workspace)s
        ORDER BY action LIMIT 1
    )
    UNION ALL
    SELECT following.action FROM found CROSS JOIN LATERAL (
        SELECT action FROM agency_activityentry WHERE workspace_uuid = %(workspace)s AND action > found.action
        ORDER BY action LIMIT 1
    ) AS following
)
SELECT action FROM found
"""


def record_activity(
    *,
    by: Actor,
    action: str,
    agency_id: int | None,
    target: tuple[str, object, str],
    workspace_uuid: UUID | None = None,
    details: dict[str, Any] | None = None,
    changes: Changes | None = None,
) -> None:
    """Add an entry; `target` is the kind, public id and name of what was changed. `details` holds no secret.

    `changes` has each field's values before and after. Only fields that are declared for the action keep their values.
    """
    kind, identity, name = target
    ActivityEntry.objects.create(
        agency_id=agency_id,
        workspace_uuid=workspace_uuid,
        actor_kind=by.kind,
        actor_id=by.id,
        actor_label=by.label,
        acting_for=by.acting_for,
        of_workspace=by.of_workspace,
        action=action,
        target_kind=kind,
        target_id=str(identity),
        target_name=name,
        address=by.address,
        request_id=by.request_id,
        details=details or {},
        changes=recorded_changes(action, changes or {}),
    )


def recorded_actions(workspace_uuid: UUID) -> list[str]:
    """Return each action that has been recorded in a workspace, once."""
    with connection.cursor() as cursor:
        cursor.execute(ACTIONS, {"workspace": workspace_uuid})
        return [action for (action,) in cursor.fetchall()]
