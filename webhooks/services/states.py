"""Reads endpoints' outcomes of the last 24 hours and their numbers of waiting deliveries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from webhooks.models import Endpoint, HourlyStats

HOURS = 24
MOST_COUNTED = 1_000

WAITING = """
SELECT endpoint.id, (SELECT count(*) FROM (
    SELECT FROM webhooks_queueddelivery WHERE endpoint_id = endpoint.id AND is_ready
    UNION ALL
    SELECT FROM webhooks_queueddelivery WHERE endpoint_id = endpoint.id AND NOT is_ready
    LIMIT %(most)s + 1) AS counted)
FROM unnest(%(ids)s::bigint[]) AS endpoint (id)
"""


@dataclass(slots=True)
class EndpointState:
    """An endpoint's recent outcomes and its waiting deliveries.

    `hours` holds (successes, errors) of this hour and the 23 before it, oldest first. `waiting` stops at 1,001.
    """

    hours: list[tuple[int, int]]
    waiting: int = 0

    @property
    def waiting_is_more(self) -> bool:
        return self.waiting > MOST_COUNTED

    @property
    def success_rate(self) -> float | None:
        """The percentage of successful deliveries of the last day, or None without any."""
        good, bad = sum(hour[0] for hour in self.hours), sum(hour[1] for hour in self.hours)
        return 100 * good / (good + bad) if good + bad else None


def endpoint_states(*, endpoints: Sequence[Endpoint], now: datetime) -> dict[int, EndpointState]:
    """Return the state of each endpoint by primary key, in two statements."""
    states = {endpoint.pk: EndpointState([(0, 0)] * HOURS) for endpoint in endpoints}
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(WAITING, {"ids": list(states), "most": MOST_COUNTED})
        for endpoint_id, waiting in cursor.fetchall():
            states[endpoint_id].waiting = waiting
    since = this_hour - timedelta(hours=HOURS - 1)
    counted = HourlyStats.objects.filter(endpoint_id__in=states, hour__gte=since, hour__lte=this_hour)
    for endpoint_id, hour, successes, errors in counted.values_list("endpoint_id", "hour", "successes", "errors"):
        hours_ago = (this_hour - hour) // timedelta(hours=1)
        states[endpoint_id].hours[HOURS - 1 - hours_ago] = (successes, errors)
    return states
