"""CSV files: read whole and once, when they come; written row by row."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from django.db import connection

from agency.services.exports.cells import csv_line, written_cell
from config.errors import Invalid
from workspaces.contacts.models import Contact
from workspaces.contacts.services.imports.columns import ATTRIBUTE, FIELDS, written_row
from workspaces.subaccounts.models import Workspace

MOST_BYTES = 16 * 1024 * 1024
MOST_FILE_ROWS = 200_000
MOST_COLUMNS = 60
LONGEST_CELL = 5_000
LONGEST_HEADING = 100
DELIMITERS = ",;\t|"
BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
MOST_ATTRIBUTE_COLUMNS = 200
ATTRIBUTE_NAMES = """
SELECT DISTINCT held.name FROM contacts_contact, jsonb_object_keys(attributes) AS held (name)
WHERE workspace_id = %s ORDER BY held.name LIMIT %s
"""
READ = ("name", "phone", "email", "tags", "country", "timezone", "opted_out_at", "attributes")


class FileRefused(Invalid):
    field = "file"


def read_file(content: bytes) -> tuple[list[str], list[list[str]]]:
    """Give a CSV file's headings and its rows. Raises `FileRefused`."""
    if len(content) > MOST_BYTES:
        raise FileRefused(f"The file may have at most {MOST_BYTES // 1024 // 1024} MiB.")
    text = _decoded(content)
    if "\x00" in text:
        raise FileRefused("This is not a CSV file.")
    first = text.lstrip().partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    csv.field_size_limit(LONGEST_CELL * 4)
    try:
        lines = [row for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error as error:
        raise FileRefused("This is not a CSV file.") from error
    return _checked(lines)


def _decoded(content: bytes) -> str:
    """Read UTF-8, UTF-16 with its mark, or what Windows writes where it writes neither."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _checked(lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    if len(lines) < 2:
        raise FileRefused("The file needs a line of headings and at least one row.")
    if len(lines) - 1 > MOST_FILE_ROWS:
        raise FileRefused(f"The file may have at most {MOST_FILE_ROWS:,} rows.")
    headings = [heading.strip()[:LONGEST_HEADING] for heading in lines[0]]
    if len(headings) > MOST_COLUMNS:
        raise FileRefused(f"The file may have at most {MOST_COLUMNS} columns.")
    rows = [[cell[:LONGEST_CELL] for cell in row[: len(headings)]] for row in lines[1:]]
    return headings, rows


def exported_lines(workspace: Workspace) -> Iterator[str]:
    """Give a workspace's contacts as lines of CSV, the oldest first; only a few rows are ever in memory."""
    names = _attribute_names(workspace)
    yield csv_line([*FIELDS, *(written_cell(f"{ATTRIBUTE}{name}") for name in names)])
    rows: Any = Contact.objects.of(workspace).order_by("created_at", "id").values(*READ)
    for row in rows.iterator(chunk_size=1_000):
        yield csv_line(written_row(row, names))


def _attribute_names(workspace: Workspace) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(ATTRIBUTE_NAMES, [workspace.pk, MOST_ATTRIBUTE_COLUMNS])
        return [name for (name,) in cursor.fetchall()]
