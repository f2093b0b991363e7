"""Reads and writes many contacts with one statement each."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from workspaces.contacts.services.fields.columns import ContactColumns
from workspaces.subaccounts.models import Workspace

# A contact's addresses: its phone number and its `email_key`.
Address = tuple[str | None, str | None]

TYPES = {
    "tags": "varchar[]",
    "tag_keys": "text[]",
    "attributes": "jsonb",
    "opted_out_at": "timestamptz",
    "consent_told_at": "timestamptz",
}
COLUMNS = [column.name for column in fields(ContactColumns) if column.name != "id"]
NAMES = ", ".join(COLUMNS)
TYPED = ", ".join(f"{name} {TYPES.get(name, 'text')}" for name in COLUMNS)
ROWS = f"json_to_recordset(%(rows)s::json) AS row (id bigint, {TYPED})"
KNOWN = f"""
SELECT id, {NAMES} FROM contacts_contact
WHERE workspace_id = %(workspace)s
    AND (phone = ANY (%(phones)s::varchar[]) OR email_key = ANY (%(emails)s::varchar[]))
ORDER BY id FOR NO KEY UPDATE
"""  # noqa: S608  # names of our own
INSERT = f"""
INSERT INTO contacts_contact (uuid, workspace_id, created_at, updated_at, {NAMES})
SELECT gen_random_uuid(), %(workspace)s, %(now)s, %(now)s, {NAMES} FROM {ROWS}
RETURNING id, phone, email_key
"""  # noqa: S608  # names of our own
# Runs before UPDATE, so that an address can move from one of these contacts to another.
CLEAR = """
UPDATE contacts_contact SET phone = NULL, email = NULL, email_key = NULL
WHERE workspace_id = %(workspace)s AND id = ANY (%(contacts)s::bigint[])
"""
UPDATE = f"""
UPDATE contacts_contact SET updated_at = %(now)s, {", ".join(f"{name} = row.{name}" for name in COLUMNS)}
FROM {ROWS} WHERE contacts_contact.id = row.id
"""  # noqa: S608  # names of our own


def lock_contacts_with(
    workspace: Workspace, *, phones: Sequence[str], email_keys: Sequence[str]
) -> list[ContactColumns]:
    """Lock and return the contacts that have any of these addresses, in the order of their primary keys."""
    with connection.cursor() as cursor:  # two arrays, not thousands of parameters
        cursor.execute(KNOWN, {"workspace": workspace.pk, "phones": list(phones), "emails": list(email_keys)})
        found = [ContactColumns(*row) for row in cursor.fetchall()]
    for one in found:
        if isinstance(one.attributes, str):  # a raw cursor returns JSON as text
            one.attributes = orjson.loads(one.attributes)
    return found


def insert_contacts(workspace: Workspace, contacts: Iterable[ContactColumns], *, now: datetime) -> dict[Address, int]:
    """Create contacts and return each one's primary key by its addresses."""
    with connection.cursor() as cursor:
        _execute(cursor, INSERT, workspace, contacts, now)
        return {(phone, key): number for number, phone, key in cursor.fetchall()}


def clear_addresses(workspace: Workspace, contacts: Sequence[int]) -> None:
    """Empty the addresses of locked contacts, which the caller writes next."""
    with connection.cursor() as cursor:
        cursor.execute(CLEAR, {"workspace": workspace.pk, "contacts": list(contacts)})


def write_contacts(workspace: Workspace, contacts: Iterable[ContactColumns], *, now: datetime) -> None:
    """Write the changes of locked contacts."""
    with connection.cursor() as cursor:
        _execute(cursor, UPDATE, workspace, contacts, now)


def _execute(
    cursor: Any, statement: str, workspace: Workspace, contacts: Iterable[ContactColumns], now: datetime
) -> None:
    rows = orjson.dumps(list(contacts)).decode()
    cursor.execute(statement, {"rows": rows, "workspace": workspace.pk, "now": now})
