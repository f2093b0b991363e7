"""Measures the cost of reading callbacks, from the body in the inbox to the message with its status."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from benchmarks.figures import Figure
from benchmarks.inbox.bodies import body, channels, fill, messages, statuses
from benchmarks.processes import Broken
from benchmarks.servers import Bench
from channelconnect.inbox.reading import read_waiting
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel

TITLE = (
    "Provider callbacks: microseconds of processor time, the reader's and its PostgreSQL backend's together, for each\n"
    "message that comes in and each status. Ratios are to a bare COPY of such messages and a bare UPDATE of their\n"
    "statuses. Wanted: 10,000 messages and 30,000 statuses a second on two cores."
)
CHANNELS, MESSAGES = 20, 4_000
CORES = 2
WANTED = {"message": 10_000, "status": 30_000}
COPIED = (
    "uuid, workspace_id, channel_id, conversation_id, direction, type, text, status, provider_message_id,"
    " provider_time, created_at, sent_elsewhere, sent_by_kind, sent_by_label"
)
UPDATE = """
UPDATE conversations_message SET direction = 'out', status = 'sent', sent_at = now() WHERE channel_id = ANY (%s)
"""
TEXT = "Do you have a free table tonight at eight? There are 4711 of us."


def run(_: Bench) -> list[Figure]:
    numbers = channels(CHANNELS)

    def cost(work: Callable[[], int]) -> float:
        """Give the microseconds of processor time for each of the things that `work` counts."""
        before, count = _seconds(), work()
        return (_seconds() - before) / count * 1e6

    copy = cost(_copy)
    fill(_bodies(numbers, "people", 1))
    read_waiting()
    found = {}
    read = partial(_read, [number.pk for number in numbers])
    for name, run_name, each in (
        ("1 message", "single", 1),
        ("100 messages, people new to the number", "new", 100),
        ("100 messages", "known", 100),
    ):
        fill(_bodies(numbers, run_name, each))
        found[f"bodies of {name}"] = cost(read)
    update = cost(partial(_update, [number.pk for number in numbers]))
    for name in ("delivered", "read"):
        fill(list(_statuses(numbers, name, 1_000)))  # read before the COPY, which needs the connection alone
        found[f"bodies of 1,000 statuses, {name}"] = cost(read)
    return [
        Figure(name="bare COPY of messages", measured=copy, unit="µs"),
        Figure(name="bare UPDATE of statuses", measured=update, unit="µs"),
        *(_figure(name, measured, copy, update) for name, measured in found.items()),
    ]


def _figure(name: str, measured: float, copy: float, update: float) -> Figure:
    kind, ceiling = ("status", update) if "status" in name else ("message", copy)
    return Figure(
        name=name,
        measured=measured,
        unit="µs",
        ratio=measured / ceiling,
        at_most=CORES * 1e6 / WANTED[kind],
        note=f"{CORES * 1e6 / measured:,.0f} a second on {CORES} cores",
    )


def _seconds() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    nanoseconds = int(Path(f"/proc/{backend}/schedstat").read_text().split()[0])
    return time.process_time() + nanoseconds / 1e9


def _bodies(numbers: list[Channel], run: str, each: int) -> Iterable[bytes]:
    for first in range(0, MESSAGES, each):
        yield body(numbers[first // each % CHANNELS], **messages(range(first, first + each), run))


def _statuses(numbers: list[Channel], status: str, each: int) -> Iterable[bytes]:
    for number in numbers:
        ids = list(Message.objects.filter(channel_id=number.pk).values_list("provider_message_id", flat=True))
        for first in range(0, len(ids), each):
            yield body(number, **statuses([key or "" for key in ids[first : first + each]], status))


def _read(numbers: list[int]) -> int:
    """Read the inbox; give the number of new messages, or of outgoing messages if the bodies were their statuses."""
    ours = Message.objects.filter(channel_id__in=numbers)
    before = ours.count()
    if not read_waiting(seconds=300):
        raise Broken("There was nothing to read.")
    return (ours.count() - before) or ours.filter(direction="out").count()


def _copy() -> int:
    """Write the messages' rows and nothing else."""
    now = timezone.now()
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY conversations_message ({COPIED}) FROM STDIN") as copy:
            for number in range(MESSAGES):
                row = (uuid4(), 1, 0, 0, "in", "text", TEXT, "received", f"bare-{number:050}", now, now, False, "", "")
                copy.write_row(row)
        cursor.execute("DELETE FROM conversations_message WHERE channel_id = 0")
    return MESSAGES


def _update(numbers: list[int]) -> int:
    """Turn incoming messages into outgoing ones, which is as much work as a status."""
    with connection.cursor() as cursor:
        cursor.execute(UPDATE, [numbers])
        updated: int = cursor.rowcount
        cursor.execute("ANALYZE conversations_message")
    return updated
