"""Determines endpoints' states from their ended deliveries, pending retries and events that never arrived."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import models
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from webhooks.models import Endpoint

# Events that never arrived are counted up to the first limit, among an endpoint's newest failures up to the second.
MOST_COUNTED: Final = 100
MOST_LOOKED_AT: Final = 10_000
# So many waiting deliveries of each kind, ready or not, are checked for failed attempts.
MOST_WAITING: Final = 50

# An automatic delivery that failed never arrived, unless a later redelivery of its envelope succeeded. Redeliveries are
# looked up one by one, because a join would read all of them. The range over one endpoint and the ORDER BY make the
# planner use the index of its failures (see `services.log`), so successful deliveries are never read.
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
    """An endpoint's state, as pages show it."""

    DISABLED = "disabled", _("Disabled")
    UNUSED = "unused", _("Nothing sent yet")
    HEALTHY = "healthy", _("Healthy")
    RETRYING = "retrying", _("Retrying")
    FAILING = "failing", _("Failing")
    RECOVERED = "recovered", _("Recovered")


@dataclass(frozen=True, slots=True)
class Condition:
    """An endpoint's state. `undelivered` counts events that never arrived, up to 101.

    `first_at` is when the first of these was created, `last_at` when the last one failed. `is_noted` means that the
    failure was dismissed.
    """

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
        """Whether a person should look. It ends when lost events were sent again or dismissed."""
        return self.state in (State.RETRYING, State.FAILING, State.RECOVERED) and not self.is_noted


def with_conditions(endpoints: "QuerySet[Endpoint]") -> list[tuple[Endpoint, Condition]]:
    """Return the endpoints with their conditions, in one statement."""
    limits = (MOST_WAITING, MOST_WAITING, MOST_LOOKED_AT, MOST_COUNTED + 1)
    found = RawSQL(FOUND, limits, output_field=models.JSONField())  # noqa: S611  # the statement is a constant
    return [(one, _condition(one, *one.found)) for one in endpoints.annotate(found=found)]


def conditions_of(endpoints: Collection[Endpoint]) -> dict[int, Condition]:
    """Return the condition of each endpoint by primary key, in one statement."""
    rows = Endpoint.objects.filter(pk__in=[one.pk for one in endpoints]).defer("secret")
    return {one.pk: condition for one, condition in with_conditions(rows)}


def needing_attention(endpoints: "QuerySet[Endpoint]", most: int) -> list[tuple[Endpoint, Condition]]:
    """Return the first endpoints that need attention, at most `most`."""
    return [pair for pair in with_conditions(endpoints) if pair[1].needs_attention][:most]


def _condition(
    endpoint: Endpoint, undelivered: int, first_at: str | None, last_at: str | None, is_retrying: bool
) -> Condition:
    dismissed_at, ended_at = endpoint.failures_dismissed_at, endpoint.last_delivery_at
    state = _state(endpoint, undelivered, is_retrying=is_retrying)
    # A dismissal covers the failure as long as no delivery has ended since.
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
