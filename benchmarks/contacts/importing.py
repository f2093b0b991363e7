"""Imports of 1,000 rows each: how many contacts a second, beside a bare COPY of the same rows into the same table."""

import time
from functools import partial
from statistics import median
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from benchmarks.contacts.rows import a_workspace
from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from benchmarks.servers import Bench
from workspaces.contacts.models import Contact
from workspaces.contacts.services import import_contacts
from workspaces.subaccounts.models import Workspace

TITLE = (
    "Contacts imported in calls of 1,000 rows (name, phone, e-mail, two tags, two details):\n"
    "milliseconds for 1,000 rows, from parsed JSON to the commit. Ratios are to a COPY of the same rows into its table."
)
ROWS = 1_000
ROUNDS = 5
# 5,000 contacts a second.
MOST_MS = 200.0
COLUMNS = (
    "uuid, workspace_id, name, phone, email, email_key, country, timezone, tags, tag_keys, attributes, search_key, "
    "created_at, updated_at"
)
NAMES = [name.strip() for name in COLUMNS.split(",")]
START = {"number": 0}


def run(_: Bench) -> list[Figure]:
    workspace = a_workspace()
    variants = {
        "bare COPY": partial(_copy_ms, workspace),
        "import, all new": partial(_import_ms, workspace),
        "import, all there and changed": partial(_again_ms, workspace),
    }
    found = interleave(variants, rounds=ROUNDS)
    return [
        Figure(
            name=name,
            measured=median(found[name]),
            unit="ms",
            ratio=median_ratio(found[name], found["bare COPY"]),
            at_most=MOST_MS if name == "import, all new" else None,
            note=f"{ROWS / median(found[name]) * 1000:,.0f} contacts/s",
        )
        for name in variants
    ]


def _rows() -> list[dict[str, Any]]:
    START["number"] += ROWS
    return [_row(number) for number in range(START["number"], START["number"] + ROWS)]


def _row(number: int) -> dict[str, Any]:
    return {
        "name": f"Contact Number {number}",
        "phone": f"+49 151 {number:08d}",
        "email": f"contact.{number}@example.com",
        "tags": ["Newsletter", f"Group {number % 20}"],
        "attributes": {"plan": "gold", "shoe size": str(36 + number % 10)},
    }


def _import_ms(workspace: Workspace, rows: list[dict[str, Any]] | None = None) -> float:
    rows = rows or _rows()
    began = time.perf_counter()
    result = import_contacts(workspace=workspace, rows=rows, now=timezone.now())
    took = (time.perf_counter() - began) * 1000
    assert not result.errors  # noqa: S101  # a benchmark of refusals would be another one
    return took


def _again_ms(workspace: Workspace) -> float:
    rows = _rows()
    import_contacts(workspace=workspace, rows=rows, now=timezone.now())
    return _import_ms(workspace, [{**row, "name": f"{row['name']} again"} for row in rows])


def _copy_ms(workspace: Workspace) -> float:
    """Copy rows that an import has made, with other numbers, as they stand in the table."""
    import_contacts(workspace=workspace, rows=_rows(), now=timezone.now())
    made = Contact.objects.of(workspace).order_by("-id")[:ROWS].values_list(*NAMES)
    rows = [list(row) for row in made]
    Contact.objects.of(workspace).filter(uuid__in=[row[0] for row in rows]).delete()
    began = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        _copy(cursor, rows)
    return (time.perf_counter() - began) * 1000


def _copy(cursor: Any, rows: list[list[Any]]) -> None:
    from psycopg.types.json import Jsonb

    position = NAMES.index("attributes")
    for row in rows:
        row[position] = Jsonb(row[position])
    with cursor.cursor.copy(f"COPY contacts_contact ({COLUMNS}, platforms) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([*row, []])
