"""Authentication of workspace keys. One statement finds the key and its workspace, and stamps the key's use."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from config.api.keys import IS_USABLE
from config.api.requests import Address
from config.db import dictfetchall
from workspaces.subaccounts.models import Workspace

FIND = f"""
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
        cursor.execute(FIND, {"digest": digest, "address": None if address is None else str(address)})
        rows = dictfetchall(cursor)
    if not rows:
        return None
    row = rows[0]
    is_suspended = "suspended" in (row["status"], row["agency_status"])
    workspace = Workspace(**{field: row[field] for field in WORKSPACE_FIELDS}) if row["id"] else None
    return WorkspaceCaller(row["key_uuid"], row["key_name"], workspace, workspace is not None and is_suspended)
