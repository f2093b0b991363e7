"""Counts a broadcast's audience with the statement that would prepare it, and creates no recipient."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from django.db import connection
from django.db.models import QuerySet, Sum, Value
from django.db.models.functions import Concat
from psycopg.rows import TupleRow

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, BroadcastCount
from broadcasts.services.audience import (
    AudienceSql,
    audience_filter,
    audience_sql,
    audience_statement,
    contacts_between,
    with_people,
)
from broadcasts.services.markets import PREFIX_LENGTH
from broadcasts.services.waves import Due
from channelconnect.services.allowance_keys import OPEN
from workspaces.contacts.models import Contact, ContactIdentity

LAST: Final = 2**63 - 1
SAMPLES: Final = 3
# For at most so many variables the contacts without a value are counted.
MOST_COUNTED: Final = 20
# Counts a part of the audience in one walk: by moment, zone and reason, and by the prefix of the address. People need
# no room in the allowance if they wrote within the day, or if the allowance counts them already.
COUNT: Final = """
SELECT asked.due_at, asked.timezone, asked.reason,
    CASE WHEN asked.reason IS NULL THEN left(asked.address, %(prefix)s) END,
    count(*)::int, (count(*) FILTER (WHERE {is_free}))::int,
    count(*) FILTER (WHERE asked.phone IS NULL AND asked.kind = 'phone' AND asked.reason IS NULL)::int, {missing}
FROM ({asked}) AS asked
{joins}
GROUP BY GROUPING SETS ((asked.due_at, asked.timezone, asked.reason), (4))
"""
IS_FREE: Final = "conversation.last_inbound_at > %(open_since)s OR used.id IS NOT NULL"
JOINS: Final = """
LEFT JOIN conversations_conversation conversation
    ON conversation.channel_id = %(channel)s AND conversation.contact_id = asked.id
LEFT JOIN channelconnect_allowanceuse used ON used.address = ltrim(asked.address, '+') AND used.last_at > %(used_since)s
    AND used.allowance_id = (SELECT id FROM channelconnect_allowance WHERE key = %(key)s)
"""
# Contacts without a phone number, whose number at the network is another contact's phone in the audience.
DUPLICATES: Final = """
SELECT asked.due_at, asked.timezone, count(*)::int FROM ({asked}) AS asked
WHERE asked.reason IS NULL AND asked.phone IS NULL AND asked.kind = 'phone' AND asked.address IN (
    SELECT other.phone FROM ({others}) AS other WHERE other.reason IS NULL)
GROUP BY asked.due_at, asked.timezone
"""
SAMPLE: Final = """
SELECT asked.values::text FROM ({asked}) AS asked WHERE asked.reason IS NULL ORDER BY asked.id LIMIT %(number)s
"""
ENDS: Final = """
SELECT date_trunc('minute', last_at) + interval '1 minute' + %(window)s, count(*)::int
FROM channelconnect_allowanceuse
WHERE allowance_id = (SELECT id FROM channelconnect_allowance WHERE key = %(key)s) AND last_at > %(since)s
GROUP BY 1
"""


@dataclass(slots=True)
class Counted:
    """The count of an audience as it is now.

    `missing` counts the contacts without a value for a variable, by variable, among those who get the broadcast and
    those who are skipped only because of it. A contact may lack several.
    """

    skipped: Counter[str] = field(default_factory=Counter)
    ready: dict[tuple[datetime, str | None], Due] = field(default_factory=dict)
    prefixes: Counter[str] = field(default_factory=Counter)
    has_network_numbers: bool = False
    sample: list[list[str] | None] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.skipped.total() + sum(due.free + due.counted for due in self.ready.values())

    def add(self, other: "Counted") -> None:
        """Add the count of another part of the audience."""
        self.skipped += other.skipped
        self.prefixes += other.prefixes
        self.missing += other.missing
        for key, due in other.ready.items():
            before = self.ready.get(key, Due(due.at, 0, 0))
            self.ready[key] = Due(due.at, before.free + due.free, before.counted + due.counted)
        self.sample = self.sample or other.sample

    def as_json(self) -> dict[str, object]:
        """Return the count as JSON for `from_json`."""
        ready = [[at.isoformat(), zone, due.free, due.counted] for (at, zone), due in self.ready.items()]
        counters = {"skipped": self.skipped, "prefixes": self.prefixes, "missing": self.missing}
        return {**counters, "ready": ready, "sample": self.sample}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> "Counted":
        counted = cls(Counter(written["skipped"]), {}, Counter(written["prefixes"]), sample=written["sample"])
        counted.missing = Counter(written.get("missing") or {})
        for moment, zone, free, others in written["ready"]:
            at = datetime.fromisoformat(moment)
            counted.ready[at, zone] = Due(at, free, others)
        return counted

    def move_duplicates(self, at: datetime, timezone: str | None, number: int) -> None:
        due = self.ready[at, timezone]
        self.ready[at, timezone] = due._replace(counted=due.counted - number)
        self.skipped["duplicate_address"] += number


@dataclass(frozen=True, slots=True)
class Allowance:
    """The allowance of a number or its portfolio: so many `people` within `window`; `key` is its name."""

    key: str
    people: int
    window: timedelta


class AudienceCount:
    """Counts a broadcast's audience as if it began at `starts_at`."""

    def __init__(self, broadcast: Broadcast, message: FrozenMessage, starts_at: datetime) -> None:
        self._broadcast, self._starts_at, self._variables = broadcast, starts_at, message.variables
        self._person: AudienceSql = audience_sql(broadcast, message, starts_at)
        self._wanted = audience_filter(broadcast)

    def count(self, limit: Allowance | None, now: datetime, *, after: int, up_to: int) -> Counted:
        """Count the audience among the contacts with ids above `after`, up to `up_to`.

        The count includes the variables' values of the first few. `limit` is the allowance that the broadcast must keep
        within, if any.
        """
        if self._wanted is None:
            return Counted()
        people = contacts_between(self._broadcast, self._wanted, after=after, up_to=up_to)
        counted = self._count(people, limit, now)
        if counted.has_network_numbers:
            for at, timezone, number in self._run(self._duplicates(after, up_to), people, {}):
                counted.move_duplicates(at, timezone, number)
        if counted.ready:
            rows = self._run(SAMPLE.format(asked=audience_statement(self._person)), people, {"number": SAMPLES})
            counted.sample = [None if values is None else orjson.loads(values) for (values,) in rows]
        return counted

    def _count(self, people: "QuerySet[Contact]", limit: Allowance | None, now: datetime) -> Counted:
        counted = Counted()
        values: dict[str, str | int | datetime] = {"prefix": PREFIX_LENGTH}
        if limit is not None:
            values |= {
                "key": limit.key,
                "open_since": self._starts_at - OPEN,
                "used_since": max(self._starts_at, now) - limit.window,
            }
        statement = COUNT.format(
            asked=audience_statement(self._person),
            is_free=IS_FREE if limit else "false",
            joins=JOINS if limit else "",
            missing=self._missing(),
        )
        for at, timezone, reason, prefix, number, free, numbers, missing in self._run(statement, people, values):
            if at is None:
                counted.prefixes.update({prefix: number} if prefix is not None else {})
                continue
            counted.has_network_numbers |= bool(numbers)
            if missing and reason in (None, "variable_missing"):
                counted.missing += Counter(dict(zip(self._variables, missing, strict=False)))
            if reason is None:
                counted.ready[at, timezone] = Due(at, free, number - free)
            else:
                counted.skipped[reason] += number
        return counted

    def _missing(self) -> str:
        """Write the column that counts, for each of the first variables, who has no value."""
        numbers = range(min(len(self._person.missing), MOST_COUNTED))
        counts = [f"count(*) FILTER (WHERE asked.missing_{number})" for number in numbers]
        return f"ARRAY[{', '.join(counts)}]::int[]"

    def _duplicates(self, after: int, up_to: int) -> str:
        """Write the statement. Contacts with the same number may be anywhere in the audience, not only in this part."""
        everybody = contacts_between(self._broadcast, self._wanted or {}, after=0, up_to=LAST)
        known = ContactIdentity.objects.filter(
            channel_id=self._broadcast.channel_id,
            external_id__isnull=False,
            contact_id__gt=after,
            contact_id__lte=up_to,
        )
        others = everybody.filter(phone__in=known.values_list(Concat(Value("+"), "external_id")))
        with connection.cursor() as cursor:
            written = with_people(audience_statement(self._person), self._person, others, cursor)
        return DUPLICATES.format(asked=audience_statement(self._person), others=written)

    def _run(self, statement: str, people: "QuerySet[Contact]", values: Mapping[str, Any]) -> list[TupleRow]:
        with connection.cursor() as cursor:
            written = with_people(statement, self._person, people, cursor)
            cursor.execute(written, {**self._person.parameters, **values})
            rows: list[TupleRow] = cursor.fetchall()
        return rows


def allowance_expiries(limit: Allowance, now: datetime) -> list[tuple[datetime, int]]:
    """Return the minutes in which uses of an allowance end, and how many end in each."""
    values: dict[str, Any] = {"key": limit.key, "window": limit.window, "since": now - limit.window}
    with connection.cursor() as cursor:
        cursor.execute(ENDS, values)
        ends: list[tuple[datetime, int]] = cursor.fetchall()
    return ends


def held_recipients_of_others(broadcast: Broadcast) -> int:
    """Return how many recipients of the channel's other broadcasts wait for room."""
    others = Broadcast.objects.filter(channel_id=broadcast.channel_id, status__in=("sending", "paused"))
    ids = list(others.exclude(pk=broadcast.pk).values_list("pk", flat=True)[:1_000])
    held = BroadcastCount.objects.filter(broadcast_id__in=ids).aggregate(held=Sum("held"))["held"]
    return max(0, held or 0)
