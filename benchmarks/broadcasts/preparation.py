"""Measures what it costs to turn a million contacts into recipients, and the share of each index."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.db import connection

from agency.actors import SYSTEM
from benchmarks.contacts.rows import a_workspace, contacts_in
from benchmarks.figures import Figure
from benchmarks.servers import Bench
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.preparation import SIZE, prepare_chunk
from config.db import database_now
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import connect_channel

TITLE: Final = (
    "A broadcast to 1,000,000 contacts: microseconds by the clock for each recipient to be prepared (10 are 100,000 a\n"
    "second), milliseconds for the longest transaction. Ratios are to the ORM's `bulk_create` of the same rows."
)
CONTACTS: Final = 1_000_000
PART: Final = 200_000
BY_ORM: Final = 50_000
MOST_US: Final = 10.0
MOST_MS: Final = 300.0
TEMPLATE: Final = {"name": "offer", "language": "en", "components": []}
BARE: Final = """
INSERT INTO bare_recipient SELECT %s, id, now(), 0, 0, 'pending', 'phone', phone, now()
FROM contacts_contact WHERE workspace_id = %s AND id > %s AND id <= %s
"""


def run(_: Bench) -> list[Figure]:
    workspace = a_workspace()
    contacts_in(workspace, CONTACTS)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
    channel = _channel(workspace)
    orm = _by_orm(workspace, channel)
    found = [Figure(name="bulk_create", measured=orm, unit="µs", ratio=1.0)]

    def figure(
        name: str, contacts: int = PART, at_most: float | None = None, connections: int = 1, **changes: Any
    ) -> Measured:
        one = _prepared(_broadcast(workspace, channel, **changes), contacts, connections)
        found.append(Figure(name=name, measured=one.us, unit="µs", ratio=one.us / orm, at_most=at_most, note=one.note))
        return one

    bare = _bare(workspace)
    found.append(Figure(name="a bare table: no key, no index", measured=bare, unit="µs", ratio=bare / orm))
    for name, index in INDEXES.items():
        with _without(index):
            figure(f"without {name}")
    figure("a part, with everything")
    figure("all of them, one connection", CONTACTS)
    everybody = figure("all of them, two connections, as workers do it", CONTACTS, at_most=MOST_US, connections=2)
    found.append(Figure(name="its longest transaction", measured=everybody.longest_ms, unit="ms", at_most=MOST_MS))
    for name, changes in VARIANTS.items():
        figure(name, **changes)
    return found


INDEXES: Final = {
    "the key": "broadcasts_recipient_pkey",
    "the addresses' index": "recipient_address_once_per_broadcast",
    "the index of what is due": "recipient_ready",
}
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "a part, at each contact's own time": {"timezone_mode": "contact", "scheduled_local_at": "2030-01-01 09:00:00"},
    "a part, with a variable": {"variables": ["contact.first_name"]},
    "a part, a segment of one in twenty (for each contact walked)": {"filter": {"tags_any": ["Group 7"]}},
}


def _channel(workspace: Workspace) -> Channel:
    return connect_channel(
        workspace=workspace,
        platform="whatsapp",
        external_id="benchmark",
        name="Benchmark",
        handle="+4930123",
        now=database_now(),
        by=SYSTEM,
    )


def _broadcast(
    workspace: Workspace, channel: Channel, *, variables: Any = (), filter: Any = None, **changes: Any
) -> Broadcast:
    message = FrozenMessage(template=TEMPLATE, variables=variables).as_json()
    last = Contact.objects.order_by("-pk").values_list("pk", flat=True)[0]
    return Broadcast.objects.create(
        workspace=workspace,
        channel=channel,
        name="Benchmark",
        message={},
        audience={"type": "segment", "segment": "all"},
        status="sending",
        started_at=database_now(),
        frozen=message | {"filter": filter or {}, "is_refused": False},
        last_contact=last,
        created_by_kind="system",
        created_by_label="benchmark",
        **changes,
    )


class Measured(NamedTuple):
    """Microseconds for each recipient (wall-clock and processor time) and milliseconds of the longest transaction."""

    us: float
    busy_us: float
    longest_ms: float

    @property
    def note(self) -> str:
        return f"{self.busy_us:.1f} µs of them at work"


class Share(NamedTuple):
    """One connection's chunks, the seconds of the longest, and the processor time of the connection and its backend."""

    chunks: int
    longest: float
    busy: float


def _prepared(broadcast: Broadcast, contacts: int, connections: int = 1) -> Measured:
    """Prepare `contacts` contacts over one connection, or all contacts over several at once."""
    chunks = -(-contacts // SIZE)
    began = time.perf_counter()
    if connections == 1:
        shares = [_share(broadcast, chunks)]
    else:
        with ThreadPoolExecutor(connections) as pool:
            shares = [done.result() for done in [pool.submit(_beside, broadcast, chunks) for _ in range(connections)]]
    seconds = time.perf_counter() - began
    _clean()
    done = min(sum(share.chunks for share in shares), chunks) * SIZE
    busy = sum(share.busy for share in shares)
    return Measured(seconds / done * 1e6, busy / done * 1e6, max(share.longest for share in shares) * 1_000)


def _beside(broadcast: Broadcast, chunks: int) -> Share:
    try:
        return _share(broadcast, chunks)
    finally:
        connection.close()


def _share(broadcast: Broadcast, chunks: int) -> Share:
    done, longest, busy = 0, 0.0, _processor_seconds()
    while done < chunks:
        at = time.perf_counter()
        if not prepare_chunk(broadcast.pk, now=database_now()):
            break
        longest = max(longest, time.perf_counter() - at)
        done += 1
    return Share(done, longest, _processor_seconds() - busy)


def _processor_seconds() -> float:
    """Give the processor time of this thread and of its PostgreSQL backend, which does not depend on other load."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [pid] = cursor.fetchone() or [0]
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") + time.thread_time()


def _by_orm(workspace: Workspace, channel: Channel) -> float:
    """Write the same rows with the ORM: read the contacts, make objects, and write them in batches."""
    broadcast, now = _broadcast(workspace, channel), database_now()
    began = time.perf_counter()
    people = Contact.objects.filter(workspace=workspace).order_by("pk").only("pk", "phone")[:BY_ORM]
    rows = [
        Recipient(
            broadcast_id=broadcast.pk,
            contact_id=person.pk,
            due_at=now,
            address_kind="phone",
            address=person.phone,
            created_at=now,
        )
        for person in people
    ]
    Recipient.objects.bulk_create(rows, batch_size=2_000)
    seconds = time.perf_counter() - began
    _clean()
    return seconds / BY_ORM * 1_000_000


def _bare(workspace: Workspace) -> float:
    ids = list(Contact.objects.filter(workspace=workspace).order_by("pk").values_list("pk", flat=True)[:PART])
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bare_recipient (broadcast_id bigint, contact_id bigint, due_at timestamptz, stage smallint,"
            " tries smallint, status varchar(10), address_kind varchar(5), address varchar(160),"
            " created_at timestamptz)"
        )
        began = time.perf_counter()
        for first in range(0, PART, 5_000):
            cursor.execute(BARE, [1, workspace.pk, ids[first] - 1, ids[min(first + 5_000, len(ids)) - 1]])
        seconds = time.perf_counter() - began
        cursor.execute("DROP TABLE bare_recipient")
    return seconds / PART * 1_000_000


@contextmanager
def _without(index: str) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_indexdef(%s::regclass)", [index])
        [definition] = cursor.fetchone() or [""]
        is_key = index.endswith("_pkey")
        cursor.execute(f"ALTER TABLE broadcasts_recipient DROP CONSTRAINT {index}" if is_key else f"DROP INDEX {index}")
        try:
            yield
        finally:
            cursor.execute(
                f"ALTER TABLE broadcasts_recipient ADD CONSTRAINT {index} PRIMARY KEY (broadcast_id, contact_id)"
                if is_key
                else definition
            )


def _clean() -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE broadcasts_recipient, broadcasts_wave, broadcasts_broadcastcount")
    Broadcast.objects.all().delete()
