"""The activity log: one row beside each change, in the same transaction."""

from typing import Any
from uuid import UUID

from agency.actors import Actor
from agency.models import ActivityEntry
from agency.services.activity.fields import Changes, recorded_changes

__all__ = ["record_activity"]


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

    `changes` is what each field was and is. Only what is declared for the action is written down with its values.
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
