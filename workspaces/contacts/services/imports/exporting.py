"""A workspace's contacts as a CSV file, written row by row."""

from collections.abc import Iterator
from typing import Any

from django.db import connection

from agency.services.exports.cells import csv_line
from workspaces.contacts.models import Contact
from workspaces.contacts.services.imports.columns import ATTRIBUTE, FIELDS, written_row
from workspaces.subaccounts.models import Workspace

MOST_ATTRIBUTE_COLUMNS = 200
ATTRIBUTE_NAMES = """
SELECT DISTINCT held.name FROM contacts_contact, jsonb_object_keys(attributes) AS held (name)
WHERE workspace_id = %s ORDER BY held.name LIMIT %s
"""
READ = ("name", "phone", "email", "tags", "country", "timezone", "opted_out_at", "attributes")


def exported_lines(workspace: Workspace) -> Iterator[str]:
    """Give a workspace's contacts as lines of CSV, the oldest first; only a few rows are ever in memory."""
    names = _attribute_names(workspace)
    yield csv_line([*FIELDS, *(f"{ATTRIBUTE}{name}" for name in names)])
    rows: Any = Contact.objects.of(workspace).order_by("created_at", "id").values(*READ)
    for row in rows.iterator(chunk_size=1_000):
        yield csv_line(written_row(row, names))


def _attribute_names(workspace: Workspace) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(ATTRIBUTE_NAMES, [workspace.pk, MOST_ATTRIBUTE_COLUMNS])
        return [name for (name,) in cursor.fetchall()]
