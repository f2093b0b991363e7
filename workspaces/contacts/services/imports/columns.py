"""Columns of CSV files: guesses their fields, reads cells into import rows and writes exported lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection

from agency.services.exports import csv_line, unescape_formula
from config.db import name_key
from workspaces.contacts.models import Contact
from workspaces.contacts.services.fields.phones import read_phone
from workspaces.contacts.services.imports.headings import guessed_fields
from workspaces.subaccounts.models import Workspace

ATTRIBUTE = "attributes."
FIELDS = ("name", "phone", "email", "tags", "country", "timezone", "opted_out")
# A column can also be one half of the name. The contact stores the whole name.
FIRST_NAME, LAST_NAME = "first_name", "last_name"
TARGETS = ("name", FIRST_NAME, LAST_NAME, *FIELDS[1:])
# Google's exports separate several values of a cell by this.
BETWEEN_VALUES = ":::"
BETWEEN_TAGS = re.compile(r"[;,|]|:::")
# Google's exports put this in front of some tags.
GOOGLE_GROUP = "* "
YES = {"true", "yes", "y", "1", "x", "ja", "j", "wahr", "sí", "si", "s", "verdadero", "oui", "o", "vrai", "sim"}
# Such a row is refused, because it is unclear which columns its last cells belong to.
TOO_MANY_CELLS = "This row has more cells than there are headings in the first line."
MOST_ATTRIBUTE_COLUMNS = 200
ATTRIBUTE_NAMES = """
SELECT DISTINCT held.name FROM contacts_contact, jsonb_object_keys(attributes) AS held (name)
WHERE workspace_id = %s ORDER BY held.name LIMIT %s
"""
EXPORTED = ("name", "phone", "email", "tags", "country", "timezone", "opted_out_at", "attributes")


def guessed_mapping(columns: Sequence[str]) -> list[str]:
    """Guess the field of each column from its heading. No field occurs twice; an unknown heading gives ""."""
    fields = guessed_fields(columns)
    guessed = [_detail(column) or field for column, field in zip(columns, fields, strict=True)]
    return ["" if field in guessed[:number] else field for number, field in enumerate(guessed)]


def _detail(column: str) -> str:
    column = column.strip()
    return column if name_key(column).startswith(ATTRIBUTE) else ""


def is_too_long(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Return whether a row has a non-empty cell after the last column."""
    return any(map(str.strip, cells[len(columns) :]))


def row_of(cells: Sequence[str], mapping: Sequence[str], *, tags: Sequence[str], country: str) -> dict[str, Any]:
    """Turn a file's cells into a row for `import_contacts`. Empty cells are left out."""
    row: dict[str, Any] = {}
    attributes: dict[str, str] = {}
    for cell, field in zip(cells, mapping, strict=False):
        text = unescape_formula(cell)
        if not (field and text):
            continue
        if field.startswith(ATTRIBUTE):
            attributes[field.removeprefix(ATTRIBUTE)] = text
        else:
            row[field] = _value(field, text, country)
    halves = [row.pop(half, "") for half in (FIRST_NAME, LAST_NAME)]
    if whole := " ".join(filter(None, halves)):
        row.setdefault("name", whole)
    if attributes:
        row["attributes"] = attributes
    if tags:
        row["tags"] = [*row.get("tags", ()), *tags]
    return row


def _value(field: str, text: str, country: str) -> Any:
    if field == "tags":
        return [tag for part in BETWEEN_TAGS.split(text) if (tag := _tag(part.strip()))]
    if field == "opted_out":
        return text.casefold() in YES
    if field in ("phone", "email"):
        text = text.partition(BETWEEN_VALUES)[0].strip()
    if field == "phone" and country:
        found = read_phone(text, within=country)
        return found.number if found else text
    return text


def _tag(text: str) -> str:
    """Return a tag without Mailchimp's quotation marks or Google's prefix."""
    is_quoted = len(text) > 2 and text.startswith('"') and text.endswith('"')
    return text[1:-1].strip() if is_quoted else text.removeprefix(GOOGLE_GROUP).strip()


def written_row(contact: Mapping[str, Any], attributes: Sequence[str]) -> list[str]:
    """Return a contact's cells in the order of the export's columns."""
    held = contact["attributes"]
    return [
        contact["name"],
        contact["phone"] or "",
        contact["email"] or "",
        "; ".join(contact["tags"]),
        contact["country"] or "",
        contact["timezone"] or "",
        "yes" if contact["opted_out_at"] else "",
        *(str(held.get(name, "")) for name in attributes),
    ]


def exported_lines(workspace: Workspace) -> Iterator[str]:
    """Yield a workspace's contacts as lines of CSV, oldest first. Only 1,000 rows are in memory at a time."""
    names = _attribute_names(workspace)
    yield csv_line([*FIELDS, *(f"{ATTRIBUTE}{name}" for name in names)])
    rows: Any = Contact.objects.of(workspace).order_by("created_at", "id").values(*EXPORTED)
    for row in rows.iterator(chunk_size=1_000):
        yield csv_line(written_row(row, names))


def _attribute_names(workspace: Workspace) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(ATTRIBUTE_NAMES, [workspace.pk, MOST_ATTRIBUTE_COLUMNS])
        return [name for (name,) in cursor.fetchall()]
