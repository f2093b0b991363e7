"""How endpoints are doing: the last day by the hour, and what waits for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from webhooks.models import Endpoint

HOURS = 24
MOST_COUNTED = 1_000

WAITING = """
SELECT endpoint.id, (SELECT count(*) FROM (
    SELECT 1 FROM webhooks_delivery WHERE endpoint_id = endpoint.id AND stage = 0 LIMIT %(most)s + 1) counted)
FROM unnest(%(ids)s::bigint[]) AS endpoint (id)
"""
ENDED = """
SELECT endpoint_id, floor(extract(epoch FROM %(now)s - completed_at) / 3600)::int AS hours_ago,
    count(*) FILTER (WHERE status = 'success'), count(*) FILTER (WHERE status = 'error')
FROM webhooks_delivery
WHERE endpoint_id = ANY (%(ids)s) AND stage = 2 AND completed_at > %(since)s AND completed_at <= %(now)s
GROUP BY 1, 2
"""


@dataclass(slots=True)
class EndpointState:
    """`hours` holds (successes, errors) of each of the last 24 hours, the oldest first; `waiting` stops at 1,001."""

    hours: list[tuple[int, int]]
    waiting: int = 0

    @property
    def waiting_is_more(self) -> bool:
        return self.waiting > MOST_COUNTED

    @property
    def success_rate(self) -> float | None:
        """Per cent of the last day's deliveries that succeeded; None where there were none."""
        good, bad = sum(hour[0] for hour in self.hours), sum(hour[1] for hour in self.hours)
        return 100 * good / (good + bad) if good + bad else None


def endpoint_states(*, endpoints: Sequence[Endpoint], now: datetime) -> dict[int, EndpointState]:
    """The state of each endpoint, by its number, in two statements."""
    states = {endpoint.pk: EndpointState([(0, 0)] * HOURS) for endpoint in endpoints}
    since = now - timedelta(hours=HOURS)
    with connection.cursor() as cursor:
        cursor.execute(WAITING, {"ids": list(states), "most": MOST_COUNTED})
        for endpoint_id, waiting in cursor.fetchall():
            states[endpoint_id].waiting = waiting
        cursor.execute(ENDED, {"ids": list(states), "now": now, "since": since})
        for endpoint_id, hours_ago, good, bad in cursor.fetchall():
            if hours_ago < HOURS:
                states[endpoint_id].hours[HOURS - 1 - hours_ago] = (good, bad)
    return states
