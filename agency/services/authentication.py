"""Authenticates an agency key in one statement: the switch, the key, its agency, and the stamp of its use."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from agency.models import Agency
from config.api.keys import IS_USABLE
from config.api.requests import Address
from config.db import dictfetchall

# A key that was used within the same second is stamped already, and its row is left unchanged.
FIND = f"""
WITH stamped AS (
    UPDATE agency_agencykey key SET last_used_at = date_trunc('second', statement_timestamp())
    WHERE {IS_USABLE}
        AND (last_used_at IS NULL OR last_used_at < date_trunc('second', statement_timestamp()))
)
SELECT key.id AS key_id, key.uuid AS key_uuid, key.name AS key_name, key.can_copy, key.can_make_keys,
    agency.id, agency.uuid, agency.name, agency.status, agency.sub_account_count,
    coalesce((SELECT enabled FROM agency_switch WHERE name = 'agency_api'), TRUE) AS surface_is_on
FROM agency_agencykey key JOIN agency_agency agency ON agency.id = key.agency_id
WHERE {IS_USABLE}
"""  # noqa: S608  # texts of our own
AGENCY_FIELDS = ("id", "uuid", "name", "status", "sub_account_count")


@dataclass(frozen=True, slots=True)
class AgencyCaller:
    """The holder of a live agency key. `agency` has id, uuid, name, status and sub_account_count only."""

    key_id: int
    key_uuid: UUID
    key_name: str
    can_copy: bool
    can_make_keys: bool
    agency: Agency
    surface_is_on: bool


def authenticate_agency_key(digest: bytes, *, address: Address | None) -> AgencyCaller | None:
    """Return the holder of the key with this SHA-256, and stamp the key's use, to the second.

    None for a key that is unknown, revoked, expired by the database's clock, or not allowed from this network address.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"digest": digest, "address": None if address is None else str(address)})
        rows = dictfetchall(cursor)
    if not rows:
        return None
    row = rows[0]
    agency = Agency(**{field: row.pop(field) for field in AGENCY_FIELDS})
    return AgencyCaller(agency=agency, **row)
