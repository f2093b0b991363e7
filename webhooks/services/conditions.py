"""What state endpoints are in: from how deliveries ended, from what is tried again, and from what never arrived."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection, models
from django.utils.translation import gettext_lazy as _

from webhooks.models import Endpoint

# What never arrived is counted so far, and looked for among so many failures of an endpoint, the newest first.
MOST_COUNTED: Final = 100
MOST_LOOKED_AT: Final = 10_000
# Among what waits, so many of either kind are asked whether an attempt has failed.
MOST_WAITING: Final = 50

# A delivery of the fan-out that failed never arrived, unless its envelope was sent again since and taken: that is
# looked up one by one, as a join would read all that was sent again. Each endpoint is asked about by its own indexes.
CONDITIONS: Final = """
SELECT asked.id, lost.number, lost.first_at, lost.last_at, EXISTS (
    SELECT FROM (
        (SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = asked.id AND NOT is_ready
        LIMIT %(most_waiting)s)
        UNION ALL
        (SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = asked.id AND is_ready
        ORDER BY position, delivery_id LIMIT %(most_waiting)s)
    ) AS waiting WHERE (SELECT attempts FROM webhooks_delivery WHERE id = waiting.delivery_id) > 0)
FROM unnest(%(ids)s::bigint[], %(dismissed)s::timestamptz[]) AS asked (id, dismissed_at) CROSS JOIN LATERAL (
    SELECT count(*)::int AS number, min(created_at) AS first_at, max(failed_at) AS last_at FROM (
        SELECT failed.created_at, failed.failed_at FROM (
            SELECT id, envelope_id, kind, created_at, failed_at FROM webhooks_delivery
            WHERE endpoint_id = asked.id AND failed_at IS NOT NULL ORDER BY id DESC LIMIT %(most_looked_at)s
        ) AS failed
        WHERE failed.kind = 'automatic'
            AND (asked.dismissed_at IS NULL OR failed.failed_at > asked.dismissed_at)
            AND (SELECT again.id FROM webhooks_delivery again
                WHERE again.envelope_id = failed.envelope_id AND again.endpoint_id = asked.id
                    AND again.kind <> 'automatic' AND again.status = 'success' AND again.id > failed.id LIMIT 1) IS NULL
        LIMIT %(most)s
    ) AS undelivered
) AS lost
"""


class State(models.TextChoices):
    """What people are told of an endpoint in a word."""

    DISABLED = "disabled", _("Disabled")
    UNUSED = "unused", _("Nothing sent yet")
    HEALTHY = "healthy", _("Healthy")
    RETRYING = "retrying", _("Retrying")
    FAILING = "failing", _("Failing")
    RECOVERED = "recovered", _("Recovered")


@dataclass(frozen=True, slots=True)
class Condition:
    """`undelivered` is how many events never arrived, 101 for more; the others say when they began and ended so."""

    state: State
    undelivered: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    is_noted: bool = False

    @property
    def undelivered_is_more(self) -> bool:
        return self.undelivered > MOST_COUNTED

    @property
    def needs_attention(self) -> bool:
        """Whether somebody should look: until what is lost was sent again, or dismissed by a person."""
        return self.state in (State.RETRYING, State.FAILING, State.RECOVERED) and not self.is_noted


def conditions_of(endpoints: Sequence[Endpoint]) -> dict[int, Condition]:
    """Give the condition of each endpoint, by its number, in one statement."""
    if not endpoints:
        return {}
    values: dict[str, Any] = {
        "ids": [one.pk for one in endpoints],
        "dismissed": [one.failures_dismissed_at for one in endpoints],
        "most": MOST_COUNTED + 1,
        "most_looked_at": MOST_LOOKED_AT,
        "most_waiting": MOST_WAITING,
    }
    with connection.cursor() as cursor:
        cursor.execute(CONDITIONS, values)
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    return {one.pk: _condition(one, *found[one.pk]) for one in endpoints}


def needing_attention(endpoints: Iterable[Endpoint], most: int) -> list[tuple[Endpoint, Condition]]:
    """Give the first few that somebody should look at."""
    listed = list(endpoints)
    conditions = conditions_of(listed)
    return [(one, conditions[one.pk]) for one in listed if conditions[one.pk].needs_attention][:most]


def _condition(
    endpoint: Endpoint, undelivered: int, first_at: datetime | None, last_at: datetime | None, is_retrying: bool
) -> Condition:
    dismissed_at, ended_at = endpoint.failures_dismissed_at, endpoint.last_delivery_at
    state = _state(endpoint, undelivered, is_retrying=is_retrying)
    # A dismissal covers the failure that it was about, whose endpoint has taken nothing since.
    is_dismissed = bool(dismissed_at and ended_at and ended_at <= dismissed_at)
    is_noted = state == State.FAILING and not undelivered and is_dismissed
    return Condition(state, undelivered, first_at, last_at, is_noted)


def _state(endpoint: Endpoint, undelivered: int, *, is_retrying: bool) -> State:
    if not endpoint.enabled or endpoint.removed_at:
        return State.DISABLED
    if endpoint.last_outcome == Endpoint.Outcome.ERROR:
        return State.FAILING
    if is_retrying:
        return State.RETRYING
    if undelivered:
        return State.RECOVERED
    return State.HEALTHY if endpoint.last_outcome else State.UNUSED
