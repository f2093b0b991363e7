"""Measures the cost of statuses of broadcasts' messages, from the body in the inbox to the counted recipient."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.db import connection

from benchmarks.broadcasts.rows import broadcasts, people, send_all
from benchmarks.figures import Figure
from benchmarks.inbox.bodies import TIME, body, channels, fill
from benchmarks.processes import Broken
from benchmarks.servers import Bench
from broadcasts.models import Broadcast
from broadcasts.models.recipients import callback_data_of
from channelconnect.inbox.reading import read_waiting
from workspaces.subaccounts.models import Channel

TITLE = (
    "Statuses of broadcasts: microseconds of processor time, the reader's and its PostgreSQL backend's together, for\n"
    "each status that moves a recipient on, is repeated, or changes nothing, in bodies of 1,000; and how many of the\n"
    "updates wrote no index (HOT). Wanted: 30,000 a second on two cores, and 99 %."
)
CHANNELS, RECIPIENTS, EACH = 4, 2_500, 1_000
CORES, WANTED = 2, 30_000
UPDATES = """
SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'broadcasts_recipient'
"""
BARE = "UPDATE broadcasts_recipient SET status = 'sent', sent_at = now() WHERE broadcast_id = %s"


def run(_: Bench) -> list[Figure]:
    numbers = channels(CHANNELS)
    people(numbers, RECIPIENTS)
    bare = _bare(broadcasts(numbers, RECIPIENTS))
    under_way = broadcasts(numbers, RECIPIENTS)
    keys, by_id = send_all(), {one.pk: one.channel for one in under_way}
    before = _updates()
    found = {}
    for name in ("sent", "delivered", "read", "delivered, again"):
        fill(_bodies(keys, by_id, name))
        found[name] = _cost(len(keys))
    updates, hot = (after - first for after, first in zip(_updates(), before, strict=True))
    return [
        Figure(name="bare UPDATE of statuses", measured=bare, unit="µs"),
        *(
            Figure(
                name=name,
                measured=cost,
                unit="µs",
                ratio=cost / bare,
                at_most=CORES * 1e6 / WANTED,
                note=f"{CORES * 1e6 / cost:,.0f} a second on {CORES} cores",
            )
            for name, cost in found.items()
        ),
        Figure(name="updates that write an index", measured=100 - 100 * hot / updates, unit="%", at_most=1.0),
    ]


def _bare(under_way: Sequence[Broadcast]) -> float:
    began, count = _seconds(), 0
    with connection.cursor() as cursor:
        for one in under_way:
            cursor.execute(BARE, [one.pk])
            count += cursor.rowcount
    return (_seconds() - began) / count * 1e6


def _cost(statuses: int) -> float:
    began = _seconds()
    if not read_waiting(seconds=300):
        raise Broken("There was nothing to read.")
    return (_seconds() - began) / statuses * 1e6


def _bodies(keys: Sequence[tuple[int, int]], channels: dict[int, Channel], name: str) -> Iterable[bytes]:
    """Give callbacks about neighbouring recipients, as networks send them."""
    pricing = {"billable": True, "pricing_model": "PMP", "category": "marketing", "type": "regular"}
    for first in range(0, len(keys), EACH):
        statuses = [
            {
                "id": f"wamid.HBgLNDkxNzAwMDAwMDAVAgASGBQzQ{contact:020}",
                "status": name.partition(",")[0],
                "timestamp": str(TIME + 1),
                "recipient_id": f"49170{contact % 10**7:07}",
                "biz_opaque_callback_data": callback_data_of(broadcast, contact),
                "pricing": pricing,
            }
            for broadcast, contact in keys[first : first + EACH]
        ]
        again = {"messaging_product": name} if "again" in name else {}
        yield body(channels[keys[first][0]], **again, statuses=statuses)


def _updates() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(UPDATES)
        updates, hot = cursor.fetchone()
    return updates, hot


def _seconds() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    nanoseconds = int(Path(f"/proc/{backend}/schedstat").read_text().split()[0])
    return time.process_time() + nanoseconds / 1e9
