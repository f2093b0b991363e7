"""Counts a broadcast's messages that fail in a row with the same error. After some of them the broadcast pauses.

A template that was changed at the provider fails for everybody, while each single failure looks like its recipient's.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext_noop

from broadcasts.sending.claims import key_of
from channelconnect.providers.messages import CallResult
from channelconnect.sending.sources import Sent
from config.postgresql.arrays import integers, texts

# Error codes for a message that does not fit, because of one recipient's values or the message itself.
MISFITS: Final = frozenset({"100", "131008", "131009", "132000", "132012"})
MOST_ALIKE: Final = 20
TOO_MANY_ALIKE: Final = gettext_noop(
    "20 messages in a row failed in the same way: the provider says that the message or its template does not fit. "
    "Synchronise the templates, check the message, then resume."
)

# Another error code restarts the count. So does a different result earlier in the same batch (`anew`).
ADD = """
INSERT INTO broadcasts_failurestreak AS known (broadcast_id, code, number)
SELECT told.id, told.code, told.number
FROM unnest(%(ids)s::bigint[], %(codes)s::text[], %(numbers)s::int[]) AS told (id, code, number) ORDER BY told.id
ON CONFLICT (broadcast_id) DO UPDATE SET code = excluded.code, number = excluded.number
    + CASE WHEN known.code = excluded.code AND excluded.broadcast_id <> ALL (%(anew)s::bigint[])
        THEN known.number ELSE 0 END
RETURNING broadcast_id, number
"""
# A sent message ends the streak.
END = "DELETE FROM broadcasts_failurestreak WHERE broadcast_id = ANY (%(ids)s::bigint[])"


class Streak(NamedTuple):
    """The failures at the end of a broadcast's batch. `is_anew` says that a different result came before them."""

    code: str
    number: int
    is_anew: bool


def streaks_of(results: Sequence[Sent]) -> dict[int, Streak]:
    """Return each broadcast's streak after these results, in the order in which their calls ended."""
    found: dict[int, Streak] = {}
    sent: defaultdict[int, bool] = defaultdict(bool)
    for one in sorted(results, key=lambda one: one.at):
        broadcast = key_of(one.row.id)[0]
        code = one.outcome.error.code if one.outcome.error else ""
        if one.outcome.result is CallResult.ACCEPTED:
            found.pop(broadcast, None)
            sent[broadcast] = True
        elif one.outcome.result is CallResult.REFUSED and code in MISFITS:
            before = found.get(broadcast)
            if before is None or before.code != code:
                before = Streak(code, 0, sent[broadcast] or before is not None)
            found[broadcast] = before._replace(number=before.number + 1)
    return found


def add_to_streaks(cursor: Any, streaks: Mapping[int, Streak]) -> list[int]:
    """Add failures to the streaks. Returns the broadcasts that reached the limit; their count restarts."""
    if not streaks:
        return []
    values = {
        "ids": integers(streaks),
        "codes": texts(one.code for one in streaks.values()),
        "numbers": integers(one.number for one in streaks.values()),
        "anew": integers(broadcast for broadcast, one in streaks.items() if one.is_anew),
    }
    cursor.execute(ADD, values)
    full = [broadcast for broadcast, number in cursor.fetchall() if number >= MOST_ALIKE]
    if full:
        cursor.execute(END, {"ids": integers(full)})
    return full
