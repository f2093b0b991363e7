"""Who an agency key belongs to, in one statement: the switch, the key, its agency, and the stamp of its use."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from agency.models import Agency

# A key used again within the same second is stamped already; the row is then left alone.
FIND = """
WITH stamped AS (
    UPDATE agency_agencykey SET last_used_at = date_trunc('second', statement_timestamp())
    WHERE key_hash = %(digest)s AND revoked_at IS NULL
        AND (last_used_at IS NULL OR last_used_at < date_trunc('second', statement_timestamp()))
)
SELECT key.id, key.uuid, key.name, key.can_copy,
    agency.id, agency.uuid, agency.name, agency.status, agency.sub_account_count,
    coalesce((SELECT enabled FROM agency_switch WHERE name = 'agency_api'), TRUE)
FROM agency_agencykey key JOIN agency_agency agency ON agency.id = key.agency_id
WHERE key.key_hash = %(digest)s AND key.revoked_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class AgencyCaller:
    """The holder of a live agency key. `agency` carries id, uuid, name, status and sub_account_count only."""

    key_id: int
    key_uuid: UUID
    key_name: str
    can_copy: bool
    agency: Agency
    surface_is_on: bool


def authenticate_agency_key(digest: bytes) -> AgencyCaller | None:
    """Find the live key with this SHA-256 and stamp its use, to the second; None for an unknown or revoked one."""
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"digest": digest})
        row = cursor.fetchone()
    if row is None:
        return None
    agency = Agency(id=row[4], uuid=row[5], name=row[6], status=row[7], sub_account_count=row[8])
    return AgencyCaller(row[0], row[1], row[2], row[3], agency, row[9])
