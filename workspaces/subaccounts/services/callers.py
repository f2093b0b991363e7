"""Who a workspace key belongs to, in one statement, with the stamp of its use."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from workspaces.subaccounts.models import Workspace

FIND = """
WITH stamped AS (
    UPDATE subaccounts_workspacekey SET last_used_at = date_trunc('second', statement_timestamp())
    WHERE key_hash = %(digest)s AND revoked_at IS NULL
        AND (last_used_at IS NULL OR last_used_at < date_trunc('second', statement_timestamp()))
)
SELECT key.uuid, key.name, workspace.id, workspace.uuid, workspace.name, workspace.status, workspace.agency_id,
    workspace.timezone, agency.status
FROM subaccounts_workspacekey key
LEFT JOIN subaccounts_workspace workspace ON workspace.id = key.workspace_id
LEFT JOIN agency_agency agency ON agency.id = workspace.agency_id
WHERE key.key_hash = %(digest)s AND key.revoked_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class WorkspaceCaller:
    """The holder of a live workspace key; `workspace` is None when it no longer exists."""

    key_uuid: UUID
    key_name: str
    workspace: Workspace | None
    is_suspended: bool


def find_workspace_caller(digest: bytes) -> WorkspaceCaller | None:
    """Find the live key with this SHA-256 and stamp its use, to the second; None for an unknown or revoked one."""
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"digest": digest})
        row = cursor.fetchone()
    if row is None:
        return None
    if row[2] is None:
        return WorkspaceCaller(row[0], row[1], None, False)
    workspace = Workspace(id=row[2], uuid=row[3], name=row[4], status=row[5], agency_id=row[6], timezone=row[7])
    return WorkspaceCaller(row[0], row[1], workspace, "suspended" in (row[5], row[8]))
