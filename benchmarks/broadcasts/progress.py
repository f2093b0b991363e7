"""Measures the cost of reading the progress and the pages of recipients of a broadcast to a million or more."""

import os
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.utils import timezone

from agency.actors import SYSTEM
from benchmarks.api.calls import cost_of, handler
from benchmarks.broadcasts.rows import FROZEN
from benchmarks.contacts.rows import a_workspace
from benchmarks.figures import Figure
from benchmarks.servers import Bench
from broadcasts.models import Broadcast, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.preparation import SIZE as CHUNK_SIZE
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import issue_workspace_key

# PROGRESS_RECIPIENTS=10000000 takes minutes to write.
RECIPIENTS: Final = int(os.environ.get("PROGRESS_RECIPIENTS", "1000000"))
OTHERS, SIZE, ROUNDS = 60, 100, 3
# Only the contacts of the first and the last pages exist. All others are removed, so there is no row to look up.
PEOPLE: Final = 5_000
AT_ONCE: Final = 1_000_000
MOST_MS: Final = 50.0
TABLE: Final = "broadcasts_recipient"
TITLE = (
    f"A broadcast under way to {RECIPIENTS:,}: milliseconds of processor time, Python's and PostgreSQL's, of whole\n"
    f"requests ({SIZE} recipients on a page)."
)
MESSAGE: Final[dict[str, Any]] = {
    "text": None,
    "template": "order_ready",
    "language": "en_US",
    "components": [],
    "header": None,
    "track_clicks": True,
}
CONTACTS: Final = """
INSERT INTO contacts_contact (id, uuid, workspace_id, name, phone, search_key, tags, created_at, updated_at)
SELECT n, gen_random_uuid(), %(workspace)s, 'Person ' || n, '+49170' || lpad(n::text, 8, '0'), 'person', '{}',
    now(), now()
FROM generate_series(%(first)s, %(last)s) n
"""
# Of a hundred, 60 have read it, 20 and 10 are in earlier states, 3 failed, 5 were skipped, one is due, and one is held.
INSERT: Final = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, address_kind, address,
    timezone, skip_reason, claimed_at, sent_at, delivered_at, read_at, failed_at, error_code, provider_message_id,
    created_at)
SELECT %(broadcast)s, n, now() + n %% 38 * interval '1 hour',
    CASE kind WHEN 'due' THEN 0 WHEN 'held' THEN 3 ELSE 4 END, 0,
    CASE WHEN kind IN ('due', 'held') THEN 'pending' ELSE kind END,
    CASE WHEN kind <> 'skipped' THEN 'phone' END,
    CASE WHEN kind <> 'skipped' THEN '+49170' || lpad(n::text, 8, '0') END,
    'Europe/Berlin', CASE kind WHEN 'skipped' THEN 'opted_out' END,
    CASE WHEN was_sent THEN now() END, CASE WHEN was_sent THEN now() END,
    CASE WHEN kind IN ('delivered', 'read') THEN now() END, CASE kind WHEN 'read' THEN now() END,
    CASE kind WHEN 'failed' THEN now() END, CASE kind WHEN 'failed' THEN '131026' END,
    CASE WHEN was_sent THEN 'wamid.HBgLNDkxNzAwMDAwMDAVAgASGBQzQ' || lpad(n::text, 20, '0') END, now()
FROM generate_series(%(first)s, %(last)s) n
CROSS JOIN LATERAL (
    SELECT CASE WHEN n %% 100 < 60 THEN 'read' WHEN n %% 100 < 80 THEN 'delivered' WHEN n %% 100 < 90 THEN 'sent'
        WHEN n %% 100 < 93 THEN 'failed' WHEN n %% 100 < 98 THEN 'skipped' WHEN n %% 100 < 99 THEN 'due' ELSE 'held' END
) AS chosen (kind)
CROSS JOIN LATERAL (SELECT kind IN ('sent', 'delivered', 'read')) AS how (was_sent)
"""
INDEXES: Final = """
SELECT index.indexrelid::regclass::text, pg_get_indexdef(index.indexrelid), own.conname
FROM pg_index index LEFT JOIN pg_constraint own ON own.conindid = index.indexrelid AND own.contype = 'p'
WHERE index.indrelid = 'broadcasts_recipient'::regclass
"""
COUNTED: Final = "SELECT status, count(*) FROM broadcasts_recipient WHERE broadcast_id = %s GROUP BY status"


CHUNKS: Final = """
INSERT INTO broadcasts_recipientchunk (broadcast_id, up_to, number)
SELECT broadcast_id, max(contact_id), count(*) FROM broadcasts_recipient WHERE broadcast_id = %(broadcast)s
GROUP BY broadcast_id, (contact_id - 1) / %(size)s
"""


def run(_: Bench) -> list[Figure]:
    settings.ADDRESS_LIMIT = 10**9
    workspace = a_workspace()
    mass = _broadcasts(workspace)[0]
    _fill(mass, workspace)
    key = issue_workspace_key(workspace=workspace, name="Bench", by=SYSTEM)[1]
    application = handler(urlconf="config.urls")
    return [_figure(application, name, path, key) for name, path in _paths(mass)]


def _paths(mass: Broadcast) -> Iterator[tuple[str, str]]:
    base = f"/api/v1/broadcasts/{mass.uuid}"
    yield "its progress", base
    yield f"the list of {OTHERS + 1} broadcasts", f"/api/v1/broadcasts?per_page={SIZE}"
    recipients, last = f"{base}/recipients?per_page={SIZE}", RECIPIENTS // SIZE
    for page in (1, 1_000, last // 2, last):
        yield f"recipients, page {page:,}", f"{recipients}&page={page}"
    for status, share in (("pending", 2), ("failed", 3), ("skipped", 5), ("sent", 10), ("read", 60)):
        for page in (1, RECIPIENTS * share // 100 // SIZE // 2):
            yield f"recipients that are {status}, page {page:,}", f"{recipients}&status={status}&page={page}"


def _figure(application: WSGIHandler, name: str, path: str, key: str) -> Figure:
    costs = [cost_of(application, path, [key], 1) for _ in range(ROUNDS)]
    wall = median(cost.wall for cost in costs)
    return Figure(
        name=name,
        measured=median(cost.cpu for cost in costs),
        unit="ms",
        at_most=MOST_MS,
        note=f"{wall:.0f} ms by the clock",
    )


def _broadcasts(workspace: Workspace) -> list[Broadcast]:
    now = timezone.now()
    channel = Channel.objects.create(
        workspace=workspace, platform="whatsapp", external_id="1", name="Bench", handle="+4930123", connected_at=now
    )
    return Broadcast.objects.bulk_create(
        Broadcast(
            workspace=workspace,
            channel=channel,
            name=f"News {number}",
            message=MESSAGE,
            audience={"type": "segment", "segment": "all"},
            frozen=FROZEN.as_json(),
            status="sending",
            started_at=now,
            next_due_at=now,
            last_contact=RECIPIENTS,
            is_prepared=True,
            recipients_count=0 if number else RECIPIENTS,
            created_by_kind="system",
            created_by_label="Bench",
        )
        for number in range(OTHERS + 1)
    )


def _fill(broadcast: Broadcast, workspace: Workspace) -> None:
    """Write the recipients without indexes, and make the indexes afterwards."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET maintenance_work_mem = '512MB'; SET synchronous_commit = off")
        for first, last in ((1, PEOPLE), (RECIPIENTS - PEOPLE + 1, RECIPIENTS)):
            cursor.execute(CONTACTS, {"workspace": workspace.pk, "first": first, "last": last})
        cursor.execute(INDEXES)
        indexes = cursor.fetchall()
        for name, _, constraint in indexes:
            cursor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT {name}" if constraint else f"DROP INDEX {name}")
        for first in range(1, RECIPIENTS + 1, AT_ONCE):
            last = min(RECIPIENTS, first + AT_ONCE - 1)
            cursor.execute(INSERT, {"broadcast": broadcast.pk, "first": first, "last": last})
        for name, definition, constraint in indexes:
            cursor.execute(definition)
            if constraint:
                cursor.execute(f"ALTER TABLE {TABLE} ADD CONSTRAINT {constraint} PRIMARY KEY USING INDEX {name}")
        cursor.execute(CHUNKS, {"broadcast": broadcast.pk, "size": CHUNK_SIZE})
        cursor.execute(f"VACUUM ANALYZE {TABLE}")
        cursor.execute("ANALYZE contacts_contact")
        cursor.execute(COUNTED, [broadcast.pk])
        counts = dict(cursor.fetchall())
        cursor.execute(f"SELECT count(*) FROM {TABLE} WHERE broadcast_id = %s AND stage = {Stage.HELD}", [broadcast.pk])
        [counts["held"]] = cursor.fetchone()
        add_counts({broadcast.pk: counts})
        cursor.execute("CHECKPOINT")
