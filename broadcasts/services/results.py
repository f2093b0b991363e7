"""The results of a broadcast: how many got, read and clicked it, what followed, and how earlier broadcasts did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import connection

from broadcasts.models import Broadcast
from broadcasts.services.counts import counts_of

# The average is of at most `MOST_COMPARED` broadcasts, which are looked for among the `MOST_LOOKED_AT` before this one.
MOST_COMPARED: Final = 10
MOST_LOOKED_AT: Final = 50
# Replies and opt-outs are looked for among so many recipients, and within so long after each message.
MOST_FOLLOWED: Final = 5_000
FOLLOWED_FOR: Final = timedelta(days=3)
STEPS: Final = ("sent", "delivered", "read", "clicked")
# Each recipient costs a look by key at its contact, its conversation and its newest messages, so the broadcast's size
# does not matter.
FOLLOWED: Final = """
SELECT count(*), count(*) FILTER (WHERE EXISTS (
        SELECT FROM conversations_conversation conversation
        JOIN conversations_message message ON message.conversation_id = conversation.id
        WHERE conversation.contact_id = one.contact_id AND conversation.channel_id = %(channel)s
            AND message.direction = 'in' AND message.provider_time > one.sent_at
            AND message.provider_time <= one.sent_at + %(followed_for)s
    )),
    count(*) FILTER (WHERE EXISTS (
        SELECT FROM contacts_contact contact WHERE contact.id = one.contact_id AND (
            contact.opted_out_at BETWEEN one.sent_at AND one.sent_at + %(followed_for)s
            OR contact.marketing_opted_out_at BETWEEN one.sent_at AND one.sent_at + %(followed_for)s)
    ))
FROM (
    SELECT contact_id, sent_at, status FROM broadcasts_recipient WHERE broadcast_id = %(broadcast)s
    ORDER BY contact_id LIMIT %(most)s
) AS one
WHERE one.sent_at IS NOT NULL AND one.status IN ('sent', 'delivered', 'read')
"""


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A step of the funnel: how many people came so far, and their share of the step before in percent.

    `average` is the same share in earlier broadcasts. A share is None if nobody came to the step before. `width` is the
    share of the first step, for a bar.
    """

    name: str
    number: int
    rate: float | None
    average: float | None
    width: int


@dataclass(frozen=True, slots=True)
class Followed:
    """What recipients did within three days of their message. `people` is how many recipients were looked at."""

    people: int
    replies: int
    opt_outs: int
    is_complete: bool

    @property
    def reply_rate(self) -> float | None:
        return _percent(self.replies, self.people)

    @property
    def opt_out_rate(self) -> float | None:
        return _percent(self.opt_outs, self.people)


@dataclass(frozen=True, slots=True)
class BroadcastResults:
    """A broadcast's results. `compared` is the number of earlier broadcasts in the averages."""

    steps: list[FunnelStep]
    followed: Followed
    compared: int


def results_of(broadcast: Broadcast) -> BroadcastResults:
    """Return the results of a broadcast that has begun. It takes three statements, each bounded."""
    earlier = _earlier(broadcast)
    counts = counts_of([broadcast, *earlier])
    rates = [_rates(counts[one.pk]) for one in earlier]
    own = counts[broadcast.pk]
    numbers, shares = funnel_of(own), _rates(own)
    with_clicks = own["clicked"] > 0 or broadcast.message.get("track_clicks", True)
    steps = [
        FunnelStep(
            name,
            numbers[position],
            shares[position],
            _average([one[position] for one in rates]),
            round(_percent(numbers[position], numbers[0]) or 0),
        )
        for position, name in enumerate(STEPS)
        if name != "clicked" or with_clicks
    ]
    return BroadcastResults(steps, _followed(broadcast), len(earlier))


def funnel_of(counts: Mapping[str, int]) -> list[int]:
    """Return how many people came to each step, in the order of `STEPS`; no number is above the one before.

    A click counts as a reading, and a reading as a delivery, even if the network has not reported them.
    """
    clicked = counts["clicked"]
    read = max(counts["read"], clicked)
    delivered = max(counts["delivered"] + counts["read"], read)
    sent = max(counts["sent"] + counts["delivered"] + counts["read"], delivered)
    return [max(0, number) for number in (sent, delivered, read, clicked)]


def _rates(counts: Mapping[str, int]) -> list[float | None]:
    """Return each step's share of the step before. The first step is the share of all recipients."""
    numbers = funnel_of(counts)
    everybody = sum(counts[name] for name in ("pending", "sent", "delivered", "read", "failed", "skipped"))
    return [_percent(number, before) for number, before in zip(numbers, [everybody, *numbers], strict=False)]


def _percent(number: int, of: int) -> float | None:
    return min(100.0, number / of * 100) if of > 0 else None


def _average(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


def _earlier(broadcast: Broadcast) -> list[Broadcast]:
    """Return the workspace's broadcasts before this one that were sent, newest first."""
    before = Broadcast.objects.filter(workspace_id=broadcast.workspace_id, created_at__lt=broadcast.created_at)
    newest = before.newest_first().only("pk", "status")[:MOST_LOOKED_AT]
    return [one for one in newest if one.status == Broadcast.Status.SENT][:MOST_COMPARED]


def _followed(broadcast: Broadcast) -> Followed:
    values: dict[str, Any] = {
        "broadcast": broadcast.pk,
        "channel": broadcast.channel_id,
        "followed_for": FOLLOWED_FOR,
        "most": MOST_FOLLOWED,
    }
    with connection.cursor() as cursor:
        cursor.execute(FOLLOWED, values)
        people, replies, opt_outs = cursor.fetchone()
    return Followed(people, replies, opt_outs, is_complete=broadcast.recipients_count <= MOST_FOLLOWED)
