"""SQL statements that turn contacts into recipients or only count them."""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import QuerySet

from broadcasts.services.audience.expressions import Person
from workspaces.contacts.models import Contact

# One row for each contact, with a reason if the contact is skipped.
ASKED: Final = """
SELECT person.id, {address} AS address, {kind} AS kind, {due_at} AS due_at, {timezone} AS timezone,
    {reason} AS reason, {values} AS "values", person.phone
FROM ({people}) AS person
{joins}
"""
COLUMNS: Final = (
    "broadcast_id, contact_id, due_at, stage, tries, status, address_kind, address, timezone, skip_reason,"
    ' "values", created_at'
)
COUNTED: Final = """
SELECT due_at, timezone, skip_reason, count(*)::int, array_agg(contact_id) FILTER (WHERE skip_reason IS NOT NULL)
FROM inserted GROUP BY due_at, timezone, skip_reason
"""
# A conflict is either an address that the broadcast already has, or a contact with a row already, because another
# contact was merged into it. The existing row stays.
INSERT: Final = """
WITH inserted AS (
    INSERT INTO broadcasts_recipient ({columns})
    SELECT %(broadcast)s, id, due_at, CASE WHEN reason IS NULL THEN 0 ELSE 4 END, 0,
        CASE WHEN reason IS NULL THEN 'pending' ELSE 'skipped' END,
        CASE WHEN reason IS NULL THEN kind END, CASE WHEN reason IS NULL THEN address END,
        timezone, reason, CASE WHEN reason IS NULL THEN "values" END, %(started)s
    FROM ({asked}) AS asked
    {on_conflict}
    RETURNING contact_id, due_at, timezone, skip_reason
)
{counted}
"""
# Contacts without a row by now have the address of another recipient.
INSERT_DUPLICATES: Final = """
WITH inserted AS (
    INSERT INTO broadcasts_recipient ({columns})
    SELECT %(broadcast)s, id, due_at, 4, 0, 'skipped', NULL, NULL, timezone, 'duplicate_address', NULL, %(started)s
    FROM ({asked}) AS asked
    WHERE NOT EXISTS (
        SELECT FROM broadcasts_recipient there WHERE there.broadcast_id = %(broadcast)s AND there.contact_id = asked.id)
    RETURNING contact_id, due_at, timezone, skip_reason
)
{counted}
"""


def asked(person: Person) -> str:
    """Return the audience's statement. The query of the contacts replaces its `{people}`."""
    return ASKED.format(
        address=person.address,
        kind=person.kind,
        due_at=person.due_at,
        timezone=person.timezone,
        reason=person.reason,
        values=person.values,
        joins=person.joins,
        people="{people}",
    )


def with_people(statement: str, person: Person, people: "QuerySet[Contact]", cursor: Any) -> str:
    """Insert the query of the contacts into a statement, with its values as literals."""
    # Also if no contact can match because all chosen contacts are gone.
    compiler = people.values(*person.columns).query.get_compiler(people.db, elide_empty=False)
    sql, parameters = compiler.as_sql()
    written = cursor.mogrify(sql, parameters) if parameters else sql
    return statement.replace("{people}", str(written).replace("%", "%%"))


def insert(person: Person, *, is_careful: bool) -> str:
    """Return the statement that inserts recipients; with care if the broadcast may have an address already."""
    # Of two contacts with one address the older gets the message, whatever the plan.
    on_conflict = "ORDER BY asked.id ON CONFLICT DO NOTHING" if is_careful else ""
    return INSERT.format(columns=COLUMNS, asked=asked(person), on_conflict=on_conflict, counted=COUNTED)


def insert_duplicates(person: Person) -> str:
    return INSERT_DUPLICATES.format(columns=COLUMNS, asked=asked(person), counted=COUNTED)


def parameters_of(person: Person, broadcast: int) -> Mapping[str, Any]:
    return {**person.parameters, "broadcast": broadcast}
