"""Room in the allowance of a number or a portfolio, taken by a claim of messages in its transaction.

The count is exact for any 24 hours. A person counts for as long as a message claimed for them may have been sent within
that time. A claim first locks the rows of all keys that it may need, in the order of the keys, and takes room after
that. So two claims cannot deadlock.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import connection, models
from django.db.models.expressions import RawSQL

from channelconnect.sending.limits import urgent_share_of
from channelconnect.services.allowance_keys import (
    KEY,
    WINDOW,
    WINDOW_SECONDS,
    DatabaseCursor,
    Key,
    LockedKey,
    execute,
    keys_of,
    lock_keys,
)
from config.postgresql.arrays import integers, texts
from workspaces.subaccounts.models import Channel

# Broadcasts leave room this long to answers that found none. The answers ask again before it ends.
RESERVE_SECONDS: Final = 15
# A taker deletes at most this many ended uses; the rest count until the next one.
FORGET_AT_ONCE: Final = 5_000
NO_LIMIT: Final = 2**31 - 1

# This statement sees the changes that the previous one waited for.
KNOWN = """
WITH ended AS (
    SELECT id FROM channelconnect_allowanceuse
    WHERE allowance_id = %(allowance)s AND last_at < clock_timestamp() - make_interval(secs => %(window)s)
    ORDER BY last_at LIMIT %(most)s
), forgotten AS (
    DELETE FROM channelconnect_allowanceuse WHERE id = ANY (ARRAY (SELECT id FROM ended)) RETURNING id
)
SELECT (SELECT count(*) FROM forgotten), ARRAY (
    SELECT address FROM channelconnect_allowanceuse
    WHERE allowance_id = %(allowance)s AND address = ANY (%(addresses)s::text[]) AND id <> ALL (SELECT id FROM ended))
"""
TAKE = """
WITH taken AS (
    INSERT INTO channelconnect_allowanceuse AS kept (allowance_id, address, last_at, sends)
    SELECT %(allowance)s, told.address, clock_timestamp(), told.number
    FROM unnest(%(addresses)s::text[], %(numbers)s::int[]) AS told (address, number)
    ON CONFLICT (allowance_id, address) DO UPDATE SET last_at = excluded.last_at, sends = kept.sends + excluded.sends
)
UPDATE channelconnect_allowance SET used = used + %(change)s WHERE id = %(allowance)s
"""
RESERVE = """
UPDATE channelconnect_allowance
SET reserved = %(reserved)s, reserved_until = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE id = %(allowance)s
"""
RETURN = """
WITH told AS (
    SELECT allowance.id, told.address, count(*) AS sends
    FROM unnest(%(keys)s::text[], %(addresses)s::text[]) AS told (key, address)
    JOIN channelconnect_allowance allowance USING (key)
    GROUP BY allowance.id, told.address
), forgotten AS (
    DELETE FROM channelconnect_allowanceuse used USING told
    WHERE used.allowance_id = told.id AND used.address = told.address AND used.sends <= told.sends
    RETURNING used.allowance_id
), kept AS (
    UPDATE channelconnect_allowanceuse used SET sends = used.sends - told.sends FROM told
    WHERE used.allowance_id = told.id AND used.address = told.address AND used.sends > told.sends
)
UPDATE channelconnect_allowance allowance SET used = used - less.number
FROM (SELECT allowance_id, count(*) AS number FROM forgotten GROUP BY allowance_id) AS less
WHERE allowance.id = less.allowance_id
"""
ROOM = """
SELECT asked.key, coalesce(allowance.used, 0) - (
    SELECT count(*) FROM channelconnect_allowanceuse used
    WHERE used.allowance_id = allowance.id
        AND used.last_at < clock_timestamp() - make_interval(secs => %(window)s)),
    CASE WHEN allowance.reserved_until > clock_timestamp() THEN allowance.reserved ELSE 0 END,
    coalesce(allowance.full_until > clock_timestamp(), false)
FROM unnest(%(keys)s::text[]) AS asked (key) LEFT JOIN channelconnect_allowance allowance USING (key)
"""
USED = f"""
coalesce((
    SELECT CASE WHEN allowance.full_until > clock_timestamp() THEN channel.messaging_limit ELSE allowance.used - (
        SELECT count(*) FROM channelconnect_allowanceuse used
        WHERE used.allowance_id = allowance.id AND used.last_at < clock_timestamp() - make_interval(secs => %s)) END
    FROM subaccounts_channel channel
    LEFT JOIN channelconnect_channelcredential credential ON credential.channel_id = channel.id
    JOIN channelconnect_allowance allowance ON allowance.key = {KEY}
    WHERE channel.id = subaccounts_channel.id
), 0)
"""  # noqa: S608  # texts of our own
FULL_UNTIL = "SELECT full_until FROM channelconnect_allowance WHERE key = %(key)s"
# The times at which uses end, the next first.
ENDS = """
SELECT last_at + make_interval(secs => %(window)s) FROM channelconnect_allowanceuse
WHERE allowance_id = (SELECT id FROM channelconnect_allowance WHERE key = %(key)s)
ORDER BY last_at OFFSET %(first)s LIMIT %(number)s
"""
# The number of channels whose allowances one statement fills.
FILLED_AT_ONCE: Final = 1_000
# Missing keys are created. Rows are locked in the order of their keys, as takers of room lock them.
FILL: Final = f"""
WITH page AS MATERIALIZED (
    SELECT id FROM subaccounts_channel WHERE id > %(after)s AND platform = 'whatsapp' ORDER BY id LIMIT %(batch)s
), filled AS (
    INSERT INTO channelconnect_allowance AS kept (key, used, reserved, full_until)
    SELECT DISTINCT {KEY} AS key, 0, 0, statement_timestamp() + make_interval(hours => %(hours)s)
    FROM page JOIN subaccounts_channel channel USING (id)
    LEFT JOIN channelconnect_channelcredential credential ON credential.channel_id = channel.id
    ORDER BY key
    ON CONFLICT (key) DO UPDATE SET full_until = excluded.full_until
    RETURNING kept.key
)
SELECT (SELECT max(id) FROM page), (SELECT count(*) FROM filled)
"""  # noqa: S608  # texts of our own


class AllowanceCapacity(NamedTuple):
    """The number of people that a key has room for; None without a limit."""

    people: int | None
    reserved: int = 0

    @property
    def for_broadcasts(self) -> int:
        return NO_LIMIT if self.people is None else max(0, self.people - self.reserved)

    @property
    def is_open(self) -> bool:
        return self.for_broadcasts > 0


def person_key(address: str) -> str:
    """Return the same key for a number with its plus and for the network's id of that number."""
    return address.removeprefix("+")


def take(
    cursor: DatabaseCursor, asked: Mapping[Key, Sequence[str]], *, is_urgent: bool = False, leaves_share: bool = False
) -> dict[str, set[str]]:
    """Take room for people outside a window, in the caller's transaction. Returns the people with room, by key name.

    People who are counted already need no room. A key without a limit has room for all; it counts them for the day on
    which it gets a limit. People are `person_key`s, and the first come first. Room that urgent messages did not find is
    reserved for them for some seconds. With `leaves_share` a tenth of the limit is left to others that are urgent.
    """
    given: dict[str, set[str]] = {}
    wanted = {key.name: (key, people) for key, people in asked.items() if people}
    for locked in lock_keys(cursor, wanted):
        key, people = wanted[locked.name]
        given[locked.name] = _take_of(
            cursor, locked, key.limit, people, is_urgent=is_urgent, left=_left_share(key.limit) if leaves_share else 0
        )
    return given


def _left_share(limit: int | None) -> int:
    return max(0, urgent_share_of(limit)) if limit else 0


def _take_of(
    cursor: Any, locked: LockedKey, limit: int | None, people: Sequence[str], *, is_urgent: bool, left: int
) -> set[str]:
    allowance, reserved = locked.allowance, 0 if is_urgent else locked.reserved
    values = {
        "allowance": allowance,
        "window": WINDOW_SECONDS,
        "most": FORGET_AT_ONCE,
        "addresses": texts(dict.fromkeys(people)),
    }
    execute(cursor, KNOWN, values)
    forgotten, known = cursor.fetchone()
    taken, new = set(known), 0
    used = locked.used - forgotten
    room = NO_LIMIT if limit is None else 0 if locked.is_full else max(0, limit - left - reserved - used)
    for person in dict.fromkeys(people):
        if person not in taken and new < room:
            taken.add(person)
            new += 1
    if taken or forgotten:
        # A person who is asked for several times gets as many messages, and each of them may be given back.
        numbers = {person: number for person, number in Counter(people).items() if person in taken}
        values = {"allowance": allowance, "addresses": texts(numbers), "numbers": integers(numbers.values())}
        execute(cursor, TAKE, {**values, "change": new - forgotten})
    missing = len(set(people) - taken)
    if is_urgent and missing:
        # Otherwise broadcasts would take the room that must be free before these get any.
        execute(cursor, RESERVE, {"allowance": allowance, "reserved": missing + left, "seconds": RESERVE_SECONDS})
    return taken


def give_back(cursor: DatabaseCursor, returned: Collection[tuple[str, str]]) -> None:
    """Return room taken for messages that the provider does not have, as pairs of a key's name and a `person_key`."""
    if not returned:
        return
    names, people = zip(*sorted(returned), strict=True)
    lock_keys(cursor, set(names))
    execute(cursor, RETURN, {"keys": texts(names), "addresses": texts(people)})


def allowance_capacities(cursor: DatabaseCursor, keys: Iterable[Key]) -> dict[Key, AllowanceCapacity]:
    """Return how many more people each key may reach now, and how many of them are reserved for answers."""
    wanted = {key.name: key for key in keys if key.limit is not None}
    rooms = {key: AllowanceCapacity(None) for key in keys if key.limit is None}
    if wanted:
        execute(cursor, ROOM, {"keys": texts(wanted), "window": WINDOW_SECONDS})
        for name, used, reserved, is_full in cursor.fetchall():
            limit = wanted[name].limit or 0
            rooms[wanted[name]] = AllowanceCapacity(0 if is_full else max(0, limit - (used or 0)), reserved)
    return rooms


def predict_openings(cursor: DatabaseCursor, key: Key, *, ahead: int, number: int, now: datetime) -> list[datetime]:
    """Predict when there is room for the next `number` waiting people, if `ahead` others wait before them.

    The k-th place opens when the k-th oldest use ends. Taken at that time, it opens again a day later.
    """
    limit = key.limit
    if not limit:
        return [now + WINDOW] * number
    free = min(limit, allowance_capacities(cursor, [key])[key].people or 0)
    first = _first_opening(cursor, key, now)
    found: list[datetime] = []
    while len(found) < number:
        days, place = divmod(ahead + len(found), limit)
        wanted = min(number - len(found), (free if place < free else limit) - place)
        ends = [now] * wanted if place < free else _ends(cursor, key, place - free, wanted)
        # Fewer uses than the limit allows (it was raised, or uses were returned) mean that the rest has room now.
        ends += [now] * (wanted - len(ends))
        found.extend(max(end, first) + days * WINDOW for end in ends)
    return found


def _first_opening(cursor: DatabaseCursor, key: Key, now: datetime) -> datetime:
    execute(cursor, FULL_UNTIL, {"key": key.name})
    row = cursor.fetchone()
    return max(now, row[0]) if row and row[0] else now


def _ends(cursor: DatabaseCursor, key: Key, first: int, number: int) -> list[datetime]:
    execute(cursor, ENDS, {"key": key.name, "window": WINDOW_SECONDS, "first": first, "number": number})
    return [row[0] for row in cursor.fetchall()]


def used_people() -> RawSQL:
    """Return the number of people who count against a channel's limit, as an expression over rows of channels."""
    return RawSQL(USED, [WINDOW_SECONDS], models.IntegerField())  # noqa: S611  # a text of our own


def remaining_people(channel: Channel) -> int | None:
    """Return how many more people a channel may write to first now; None without a limit."""
    return remaining_allowance([channel])[channel.pk]


def remaining_allowance(channels: Collection[Channel]) -> dict[int, int | None]:
    """Return `remaining_people` for several channels by their keys, with two statements."""
    found: dict[int, int | None] = {channel.pk: None for channel in channels}
    if not found:
        return found
    with connection.cursor() as cursor:
        keys = keys_of(cursor, found)
        rooms = allowance_capacities(cursor, set(keys.values()))
    return found | {channel: rooms[key].people for channel, key in keys.items()}


def fill_allowances(*, hours: int) -> int:
    """Count allowances as full for this many hours, because a restored database lacks uses. Returns how many."""
    number, after = 0, 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(FILL, {"after": after, "batch": FILLED_AT_ONCE, "hours": hours})
            last, filled = cursor.fetchone()
            if last is None:
                return number
            number, after = number + filled, last
