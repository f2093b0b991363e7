"""Columns of CSV files: what each may hold, how its heading is understood, and how a cell is read and written."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agency.services.exports.cells import read_cell, written_cell
from config.db import name_key
from workspaces.contacts.services.fields.phones import read_phone

ATTRIBUTE = "attributes."
FIELDS = ("name", "phone", "email", "tags", "country", "timezone", "opted_out")
# Other headings under which files of other programs have the same.
HEADINGS = {
    "name": {"full name", "contact", "contact name", "customer", "customer name"},
    "phone": {"phone number", "telephone", "mobile", "mobile phone", "mobile number", "cell", "whatsapp", "number"},
    "email": {"e-mail", "mail", "email address", "e-mail address"},
    "tags": {"tag", "labels", "label", "groups", "segments"},
    "country": {"country code"},
    "timezone": {"time zone", "time_zone", "tz"},
    "opted_out": {"opted out", "unsubscribed", "opt out", "opt-out"},
}
BETWEEN_TAGS = re.compile(r"[;,|]")
YES = {"true", "yes", "y", "1", "x"}


def guessed_mapping(columns: Sequence[str]) -> list[str]:
    """Guess the field of each column from its heading; none twice, and none for what is not known."""
    taken: set[str] = set()
    mapping = []
    for column in columns:
        found = _field_of(column)
        mapping.append("" if found in taken else found)
        taken.add(found)
    return mapping


def _field_of(column: str) -> str:
    key = name_key(column)
    if key.startswith(ATTRIBUTE):
        return column.strip()
    return next((name for name in FIELDS if key == name or key in HEADINGS[name]), "")


def row_of(cells: Sequence[str], mapping: Sequence[str], *, tags: Sequence[str], country: str) -> dict[str, Any]:
    """Make a row as imports take it of a file's cells; empty ones say nothing."""
    row: dict[str, Any] = {}
    attributes: dict[str, str] = {}
    for cell, field in zip(cells, mapping, strict=False):
        text = read_cell(cell)
        if not (field and text):
            continue
        if field.startswith(ATTRIBUTE):
            attributes[field.removeprefix(ATTRIBUTE)] = text
        else:
            row[field] = _value(field, text, country)
    if attributes:
        row["attributes"] = attributes
    if tags:
        row["tags"] = [*row.get("tags", ()), *tags]
    return row


def _value(field: str, text: str, country: str) -> Any:
    if field == "tags":
        return [tag for part in BETWEEN_TAGS.split(text) if (tag := part.strip())]
    if field == "opted_out":
        return text.casefold() in YES
    if field == "phone" and country:
        found = read_phone(text, within=country)
        return found.number if found else text
    return text


def written_row(contact: Mapping[str, Any], attributes: Sequence[str]) -> list[str]:
    """Give a contact's cells in the order of the export's columns."""
    held = contact["attributes"]
    cells = [
        contact["name"],
        contact["phone"] or "",
        contact["email"] or "",
        "; ".join(contact["tags"]),
        contact["country"] or "",
        contact["timezone"] or "",
        "yes" if contact["opted_out_at"] else "",
        *(str(held.get(name, "")) for name in attributes),
    ]
    return [written_cell(cell) for cell in cells]
