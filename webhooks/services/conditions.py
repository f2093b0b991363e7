"""What state endpoints are in: from how deliveries ended, from what is tried again, and from what never arrived."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import models
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from webhooks.models import Endpoint

# What never arrived is counted so far, and looked for among so many failures of an endpoint, the newest first.
MOST_COUNTED: Final = 100
MOST_LOOKED_AT: Final = 10_000
# Among what waits, so many of either kind are asked whether an attempt has failed.
MOST_WAITING: Final = 50

# A delivery of the fan-out that failed never arrived, unless its envelope was sent again since and taken: that is
# looked up one by one, as a join would read all that was sent again. The range of one endpoint, and the order, lead to
# the index of its failures (see `services.log`): what succeeded is never read.
FOUND: Final = """(
SELECT jsonb_build_array(lost.number, lost.first_at, lost.last_at, EXISTS (
    SELECT FROM (
        (SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = webhooks_endpoint.id AND NOT is_ready
        LIMIT %s)
        UNION ALL
        (SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = webhooks_endpoint.id AND is_ready
        ORDER BY position, delivery_id LIMIT %s)
    ) AS waiting WHERE (SELECT attempts FROM webhooks_delivery WHERE id = waiting.delivery_id) > 0))
FROM (
    SELECT count(*) AS number, min(created_at) AS first_at, max(failed_at) AS last_at FROM (
        SELECT failed.created_at, failed.failed_at FROM (
            SELECT id, envelope_id, kind, created_at, failed_at FROM webhooks_delivery
            WHERE endpoint_id >= webhooks_endpoint.id AND endpoint_id <= webhooks_endpoint.id AND failed_at IS NOT NULL
            ORDER BY endpoint_id, id DESC LIMIT %s
        ) AS failed
        WHERE failed.kind = 'automatic' AND (webhooks_endpoint.failures_dismissed_at IS NULL
                OR failed.failed_at > webhooks_endpoint.failures_dismissed_at)
            AND (SELECT again.id FROM webhooks_delivery again
                WHERE again.envelope_id = failed.envelope_id AND again.endpoint_id = webhooks_endpoint.id
                    AND again.kind <> 'automatic' AND again.status = 'success' AND again.id > failed.id LIMIT 1) IS NULL
        LIMIT %s
    ) AS undelivered
) AS lost)"""


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


def with_conditions(endpoints: "QuerySet[Endpoint]") -> list[tuple[Endpoint, Condition]]:
    """Read endpoints with the condition of each, in one statement."""
    limits = (MOST_WAITING, MOST_WAITING, MOST_LOOKED_AT, MOST_COUNTED + 1)
    found = RawSQL(FOUND, limits, output_field=models.JSONField())  # noqa: S611  # the statement is a constant
    return [(one, _condition(one, *one.found)) for one in endpoints.annotate(found=found)]


def conditions_of(endpoints: Collection[Endpoint]) -> dict[int, Condition]:
    """Give the condition of each endpoint, by its number, in one statement."""
    rows = Endpoint.objects.filter(pk__in=[one.pk for one in endpoints]).defer("secret")
    return {one.pk: condition for one, condition in with_conditions(rows)}


def needing_attention(endpoints: "QuerySet[Endpoint]", most: int) -> list[tuple[Endpoint, Condition]]:
    """Give the first few that somebody should look at."""
    return [pair for pair in with_conditions(endpoints) if pair[1].needs_attention][:most]


def _condition(
    endpoint: Endpoint, undelivered: int, first_at: str | None, last_at: str | None, is_retrying: bool
) -> Condition:
    dismissed_at, ended_at = endpoint.failures_dismissed_at, endpoint.last_delivery_at
    state = _state(endpoint, undelivered, is_retrying=is_retrying)
    # A dismissal covers the failure that it was about, whose endpoint has taken nothing since.
    is_dismissed = bool(dismissed_at and ended_at and ended_at <= dismissed_at)
    is_noted = state == State.FAILING and not undelivered and is_dismissed
    return Condition(state, undelivered, _moment(first_at), _moment(last_at), is_noted)


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


def _moment(written: str | None) -> datetime | None:
    return datetime.fromisoformat(written) if written else None
