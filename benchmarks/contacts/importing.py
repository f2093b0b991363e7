"""Compares imports of 1,000 rows each with a bare COPY of the same rows into the same table."""

import time
from functools import partial
from statistics import median
from typing import Any

import orjson
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from agency.actors import SYSTEM
from benchmarks.api.calls import backend_cpu_seconds, handler, post
from benchmarks.contacts.rows import a_workspace
from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from benchmarks.servers import Bench
from workspaces.contacts.models import Contact
from workspaces.contacts.services import import_contacts
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import issue_workspace_key

TITLE = (
    "Contacts imported in calls of 1,000 rows (name, phone, e-mail, two tags, two details):\n"
    "milliseconds of processor time for 1,000 rows, this process's and its PostgreSQL backend's together. Ratios are\n"
    "to a COPY of the same rows into its table. Wanted: 5,000 contacts a second on two shared cores."
)
ROWS = 1_000
ROUNDS = 5
# This is 5,000 contacts a second on one core, while other work uses the other core.
MOST_MS = 200.0
COLUMNS = (
    "uuid, workspace_id, name, phone, email, email_key, country, timezone, tags, tag_keys, attributes, search_key, "
    "created_at, updated_at"
)
NAMES = [name.strip() for name in COLUMNS.split(",")]
START = {"number": 0}
PATH = "/api/v1/contacts/import"
THROUGH = "a call of the API, all new"


def run(_: Bench) -> list[Figure]:
    settings.ROOT_URLCONF = "config.urls"
    workspace = a_workspace()
    application = handler(urlconf="config.urls")
    _key, key = issue_workspace_key(workspace=workspace, name="Bench", by=SYSTEM)
    variants = {
        "bare COPY": partial(_copy_ms, workspace),
        "import, all new": partial(_import_ms, workspace),
        "import, all there and changed": partial(_again_ms, workspace),
        THROUGH: partial(_call_ms, application, key),
    }
    found = interleave(variants, rounds=ROUNDS)
    return [
        Figure(
            name=name,
            measured=median(found[name]),
            unit="ms",
            ratio=median_ratio(found[name], found["bare COPY"]),
            at_most=MOST_MS if name == THROUGH else None,
            note=f"{ROWS / median(found[name]) * 1000:,.0f} contacts/s and core",
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
    began = _processor_ms()
    result = import_contacts(workspace=workspace, rows=rows, now=timezone.now())
    took = _processor_ms() - began
    assert not result.errors  # noqa: S101  # a benchmark of refusals would be another one
    return took


def _call_ms(application: WSGIHandler, key: str) -> float:
    """Send the rows as a client does; measure from the body to the answer."""
    body = orjson.dumps({"contacts": _rows()})
    began = _processor_ms()
    answer = orjson.loads(post(application, PATH, key, body))
    took = _processor_ms() - began
    assert answer["data"]["created"] == ROWS  # noqa: S101  # a benchmark of refusals would be another one
    return took


def _processor_ms() -> float:
    return (time.process_time() + backend_cpu_seconds()) * 1000


def _again_ms(workspace: Workspace) -> float:
    rows = _rows()
    import_contacts(workspace=workspace, rows=rows, now=timezone.now())
    return _import_ms(workspace, [{**row, "name": f"{row['name']} again"} for row in rows])


def _copy_ms(workspace: Workspace) -> float:
    """Copy the rows of an import under other numbers, as they are in the table."""
    import_contacts(workspace=workspace, rows=_rows(), now=timezone.now())
    made = Contact.objects.of(workspace).order_by("-id")[:ROWS].values_list(*NAMES)
    rows = [list(row) for row in made]
    Contact.objects.of(workspace).filter(uuid__in=[row[0] for row in rows]).delete()
    began = _processor_ms()
    with transaction.atomic(), connection.cursor() as cursor:
        _copy(cursor, rows)
    return _processor_ms() - began


def _copy(cursor: Any, rows: list[list[Any]]) -> None:
    position = NAMES.index("attributes")
    for row in rows:
        row[position] = Jsonb(row[position])
    with cursor.cursor.copy(f"COPY contacts_contact ({COLUMNS}, platforms) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([*row, []])
