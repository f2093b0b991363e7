"""Applies delivery and read marks of Messenger and Instagram: all our messages up to a moment, or up to a message."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from broadcasts.services.statuses import statements
from broadcasts.services.statuses.applying import Key, Told, apply_told
from config.leases.arrays import integers, moments, texts
from workspaces.conversations.facts import ReadUpTo
from workspaces.conversations.services.texts import storable

# Older broadcasts are not looked at. A person who wrote within a day of a broadcast reads it soon or never.
LOOK_BACK: Final = timedelta(days=7)


def read_up_to(facts: Sequence[ReadUpTo], *, now: datetime) -> None:
    """Advance recipients who have received or read their messages, in broadcasts of the last seven days."""
    asked = [fact for fact in facts if fact.person.external_id]
    if not asked:
        return
    since = now - LOOK_BACK
    with connection.cursor() as cursor:
        values: dict[str, Any] = {
            "channels": integers([fact.channel.id for fact in asked]),
            "addresses": texts([storable(fact.person.external_id) for fact in asked]),
            "statuses": texts([fact.status for fact in asked]),
            "ids": texts([storable(fact.message_id) for fact in asked]),
            "at": moments([fact.at for fact in asked]),
            "since": since,
        }
        cursor.execute(statements.MARKS, values)
        marks = [row for row in cursor.fetchall() if row[3] is not None]
        if not marks:
            return
        channels, addresses, statuses, times = zip(*marks, strict=True)
        values = {
            "channels": integers(channels),
            "addresses": texts(addresses),
            "statuses": texts(statuses),
            "at": moments(times),
            "since": since,
        }
        cursor.execute(statements.PASSED, values)
        rows = cursor.fetchall()
    told: dict[Key, Told] = {}
    for broadcast, contact, status, at in rows:
        told.setdefault((broadcast, contact), Told()).take(status, at)
    apply_told(told, {}, now=now)
