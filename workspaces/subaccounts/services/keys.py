"""API keys of a workspace."""

from datetime import datetime
from typing import Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services import record_activity
from agency.services.keys import (
    KeyLimits,
    RolledKey,
    begin_roll,
    end_roll,
    limits_of_next,
    new_key_values,
    recorded_limits,
)
from config.errors import Forbidden
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import record_workspace_activity

WORKSPACE_PREFIX = "svc_"
MOST_KEYS = 50


class TooManyKeys(Forbidden):
    message = f"A workspace has at most {MOST_KEYS} live API keys. Revoke one first."


@transaction.atomic
def issue_workspace_key(
    *, workspace: Workspace, name: str, by: Actor, **limits: Unpack[KeyLimits]
) -> tuple[WorkspaceKey, str]:
    """Create a key. Gives it with its plaintext, which cannot be shown again.

    Raises `TooManyKeys` and `ExpiryRefused`. A rolled key and its successor count as one key.
    """
    lock_workspace(workspace)
    if WorkspaceKey.objects.filter(workspace=workspace, replaced_by=None).live().count() >= MOST_KEYS:
        raise TooManyKeys
    values, plaintext = new_key_values(prefix=WORKSPACE_PREFIX, name=name, by=by, **limits)
    key = WorkspaceKey.objects.create(workspace=workspace, **values)
    record_workspace_activity(
        workspace=workspace,
        action="workspace_key.created",
        by=by,
        details={"prefix": key.prefix, **recorded_limits(key)},
    )
    return key, plaintext


@transaction.atomic
def roll_workspace_key(
    *, workspace: Workspace, key: WorkspaceKey, old_valid_until: datetime | None, now: datetime, by: Actor
) -> RolledKey[WorkspaceKey]:
    """Replace a key of this workspace by a new one. The old key ends at `old_valid_until`, or now without it.

    Raises `KeyNotFound`, `KeyRolledAlready` and `OverlapRefused`.
    """
    lock_workspace(workspace)
    old = begin_roll(key, old_valid_until=old_valid_until, now=now)
    values, plaintext = new_key_values(prefix=WORKSPACE_PREFIX, name=old.name, by=by, **limits_of_next(old, now=now))
    new = WorkspaceKey.objects.create(workspace=workspace, **values)
    ends_at = end_roll(old, new, old_valid_until=old_valid_until, now=now)
    record_workspace_activity(
        workspace=workspace,
        action="workspace_key.rolled",
        by=by,
        details={"prefix": new.prefix, "old_prefix": old.prefix, "old_valid_until": ends_at.isoformat()},
    )
    return RolledKey(new, plaintext, ends_at)


@transaction.atomic
def revoke_workspace_key(*, key: WorkspaceKey, now: datetime, by: Actor) -> bool:
    """Revoke a key for good. The next call with it answers 401. Says whether anything changed."""
    changed = WorkspaceKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
    if changed:
        record_activity(
            by=by,
            action="workspace_key.revoked",
            agency_id=key.workspace.agency_id if key.workspace else None,
            workspace_uuid=key.workspace.uuid if key.workspace else None,
            target=("workspace_key", key.uuid, key.name),
        )
    key.refresh_from_db()
    return bool(changed)
