"""The statements that turn contacts into recipients, and the one that only counts them."""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import QuerySet

from broadcasts.services.audience.expressions import Person
from workspaces.contacts.models import Contact

# Who is asked what: one row for each contact, with a reason where it is skipped.
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
# A conflict is an address that somebody of the broadcast has already; or a contact who stands there, as another one has
# become them, and they keep their row.
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
# Those who are not there now have the address of somebody who is.
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
    """Give the statement in whose `{people}` the contacts are to be written."""
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
    """Write the contacts into a statement, the values of a segment's conditions as literals."""
    # Also where nobody can be meant, as all who were chosen are gone.
    compiler = people.values(*person.columns).query.get_compiler(people.db, elide_empty=False)
    sql, parameters = compiler.as_sql()
    written = cursor.mogrify(sql, parameters) if parameters else sql
    return statement.replace("{people}", str(written).replace("%", "%%"))


def insert(person: Person, *, is_careful: bool) -> str:
    """Insert recipients; carefully where two contacts of the chunk, or one of an earlier chunk, have one address."""
    # Of two contacts with one address it is the older one who gets it, whatever the plan.
    on_conflict = "ORDER BY asked.id ON CONFLICT DO NOTHING" if is_careful else ""
    return INSERT.format(columns=COLUMNS, asked=asked(person), on_conflict=on_conflict, counted=COUNTED)


def insert_duplicates(person: Person) -> str:
    return INSERT_DUPLICATES.format(columns=COLUMNS, asked=asked(person), counted=COUNTED)


def parameters_of(person: Person, broadcast: int) -> Mapping[str, Any]:
    return {**person.parameters, "broadcast": broadcast}
