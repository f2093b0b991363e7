"""The allowance that a number's messages use: its portfolio's or its own. Its row is locked to take room from it.

A number may change to another allowance. Its recent uses count there too then.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final, NamedTuple

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg.rows import TupleRow

from config.postgresql.arrays import integers, texts
from workspaces.subaccounts.models import Channel

DAY_SECONDS: Final = 24 * 3_600
# A claimed message is sent within this time: the longest call, plus time for the messages before it.
MARGIN_SECONDS: Final = 60
WINDOW_SECONDS: Final = DAY_SECONDS + MARGIN_SECONDS
WINDOW: Final = timedelta(seconds=WINDOW_SECONDS)
# A customer-service window counts as open only if it stays open until a message claimed now has been sent.
OPEN_SECONDS: Final = DAY_SECONDS - MARGIN_SECONDS
OPEN: Final = timedelta(seconds=OPEN_SECONDS)

# A worker's own connection has the driver's cursors, the project's has Django's.
DatabaseCursor = psycopg.Cursor[TupleRow] | CursorWrapper

KEY: Final = """
CASE WHEN coalesce(credential.portfolio_id, '') = '' THEN 'number:' || channel.external_id
    ELSE 'portfolio:' || credential.portfolio_id END
"""
KEYS: Final = f"""
SELECT channel.id, {KEY}, channel.messaging_limit
FROM subaccounts_channel channel
LEFT JOIN channelconnect_channelcredential credential ON credential.channel_id = channel.id
WHERE channel.id = ANY (%(channels)s::bigint[]) AND channel.platform = 'whatsapp'
"""  # noqa: S608  # texts of our own
CREATE: Final = """
INSERT INTO channelconnect_allowance (key, used, reserved) SELECT unnest(%(keys)s::text[]), 0, 0
ON CONFLICT (key) DO NOTHING
"""
LOCK: Final = """
SELECT key, id, used, CASE WHEN reserved_until > clock_timestamp() THEN reserved ELSE 0 END,
    coalesce(full_until > clock_timestamp(), false)
FROM channelconnect_allowance WHERE key = ANY (%(keys)s::text[]) ORDER BY key FOR NO KEY UPDATE
"""
# Nobody knows which of a portfolio's numbers wrote to whom, so all its people are copied: too many rather than too few.
COPY: Final = """
INSERT INTO channelconnect_allowanceuse AS kept (allowance_id, address, last_at, sends)
SELECT %(after)s, used.address, used.last_at, used.sends FROM channelconnect_allowanceuse used
WHERE used.allowance_id = %(before)s AND used.last_at >= clock_timestamp() - make_interval(secs => %(window)s)
ORDER BY used.address
ON CONFLICT (allowance_id, address) DO UPDATE
SET last_at = greatest(kept.last_at, excluded.last_at), sends = kept.sends + excluded.sends
"""
COUNT: Final = """
UPDATE channelconnect_allowance SET used = (
    SELECT count(*) FROM channelconnect_allowanceuse used WHERE used.allowance_id = channelconnect_allowance.id),
    full_until = greatest(full_until, (SELECT full_until FROM channelconnect_allowance WHERE id = %(before)s))
WHERE id = %(after)s
"""


class Key(NamedTuple):
    """The allowance of a channel's messages, by name; `limit` None means no limit."""

    name: str
    limit: int | None


def keys_of(cursor: DatabaseCursor, channels: Iterable[int]) -> dict[int, Key]:
    """Return the keys of these channels. Channels of other networks than WhatsApp have none.

    If numbers of a portfolio have different limits, the smallest among these channels counts.
    """
    execute(cursor, KEYS, {"channels": integers(channels)})
    rows: list[tuple[int, str, int | None]] = cursor.fetchall()
    limits: dict[str, int | None] = {}
    for _, name, limit in rows:
        limits[name] = min((one for one in (limit, limits.get(name)) if one is not None), default=None)
    return {channel: Key(name, limits[name]) for channel, name, _ in rows}


def key_of(channel: Channel) -> str | None:
    """Return the name of a channel's allowance now; None for another network than WhatsApp."""
    with connection.cursor() as cursor:
        key = keys_of(cursor, [channel.pk]).get(channel.pk)
    return key.name if key else None


def locked_keys_of(cursor: DatabaseCursor, channels: Collection[int]) -> dict[int, Key]:
    """Lock and return these channels' keys. Pass all channels that the transaction may need, before it takes any room.

    A number that moves to another portfolio meanwhile brings its uses along, and counts there from then on.
    """
    keys = keys_of(cursor, channels)
    while keys:
        lock_keys(cursor, {key.name for key in keys.values()})
        known, keys = keys, keys_of(cursor, channels)
        if {key.name for key in keys.values()} <= {key.name for key in known.values()}:
            break
    return keys


class LockedKey(NamedTuple):
    """A key's locked row. `is_full` says that nobody new may be written to, whatever is used."""

    name: str
    allowance: int
    used: int
    reserved: int
    is_full: bool


def lock_keys(cursor: DatabaseCursor, wanted: Iterable[str]) -> list[LockedKey]:
    """Lock keys' rows by their names until the transaction ends, and return them."""
    names = sorted(wanted)
    execute(cursor, LOCK, {"keys": texts(names)})
    rows = cursor.fetchall()
    if len(rows) < len(names):
        execute(cursor, CREATE, {"keys": texts(names)})
        execute(cursor, LOCK, {"keys": texts(names)})
        rows = cursor.fetchall()
    return [LockedKey._make(row) for row in rows]


@contextmanager
def carry_uses_over(channel: Channel) -> Iterator[None]:
    """Count a number's uses in both allowances if the block changes its allowance, in the caller's transaction.

    A sender that takes room from either waits for the transaction, and then finds the number under the right one.
    """
    before = key_of(channel)
    yield
    after = key_of(channel)
    if before is None or after is None or before == after:
        return
    with connection.cursor() as cursor:
        ids = {one.name: one.allowance for one in lock_keys(cursor, [before, after])}
        values = {"before": ids[before], "after": ids[after], "window": WINDOW_SECONDS}
        cursor.execute(COPY, values)
        cursor.execute(COUNT, values)


def execute(cursor: DatabaseCursor, statement: str, values: Mapping[str, Any]) -> None:
    """Run a statement over a worker's own connection, where it is planned once, or over the project's."""
    if isinstance(cursor, psycopg.Cursor):
        cursor.execute(statement, values, prepare=True)
    else:
        cursor.execute(statement, values)
