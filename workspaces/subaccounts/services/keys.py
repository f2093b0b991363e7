"""API keys of a workspace: issued, rolled, revoked, and authenticated with one statement."""

from dataclasses import dataclass
from datetime import datetime
from typing import Unpack
from uuid import UUID

from django.db import connection, transaction

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
from config.api.keys import IS_USABLE
from config.api.requests import Address
from config.db import dictfetchall
from config.errors import Forbidden
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services.recording import lock_workspace, record_workspace_activity

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


# Authentication: one statement finds the key and its workspace, and stamps the key's use.

FIND_KEY = f"""
WITH stamped AS (
    UPDATE subaccounts_workspacekey key SET last_used_at = date_trunc('second', statement_timestamp())
    WHERE {IS_USABLE}
        AND (last_used_at IS NULL OR last_used_at < date_trunc('second', statement_timestamp()))
)
SELECT key.uuid AS key_uuid, key.name AS key_name, agency.status AS agency_status,
    workspace.id, workspace.uuid, workspace.name, workspace.status, workspace.agency_id, workspace.timezone,
    workspace.currency
FROM subaccounts_workspacekey key
LEFT JOIN subaccounts_workspace workspace ON workspace.id = key.workspace_id
LEFT JOIN agency_agency agency ON agency.id = workspace.agency_id
WHERE {IS_USABLE}
"""  # noqa: S608  # texts of our own
WORKSPACE_FIELDS = ("id", "uuid", "name", "status", "agency_id", "timezone", "currency")


@dataclass(frozen=True, slots=True)
class WorkspaceCaller:
    """The holder of a live workspace key. `workspace` is None if it no longer exists."""

    key_uuid: UUID
    key_name: str
    workspace: Workspace | None
    is_suspended: bool


def authenticate_workspace_key(digest: bytes, *, address: Address | None) -> WorkspaceCaller | None:
    """Find the key with this SHA-256 and stamp its use, to the second.

    None for a key that is unknown, revoked, expired by the database's clock, or not allowed from this address.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIND_KEY, {"digest": digest, "address": None if address is None else str(address)})
        rows = dictfetchall(cursor)
    if not rows:
        return None
    row = rows[0]
    is_suspended = "suspended" in (row["status"], row["agency_status"])
    workspace = Workspace(**{field: row[field] for field in WORKSPACE_FIELDS}) if row["id"] else None
    return WorkspaceCaller(row["key_uuid"], row["key_name"], workspace, workspace is not None and is_suspended)
