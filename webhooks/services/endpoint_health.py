"""The health of endpoints: whether they need attention, how much waits for them, and who is notified."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, models
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from agency.models import NotificationEvent
from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import (
    NewNotificationEvent,
    StateCheck,
    check_next_rows,
    end_next_states,
    open_states,
)
from agency.tenants import Audience
from webhooks.models import Endpoint, HourlyStats

# Events that never arrived are counted up to the first limit, among an endpoint's newest failures up to the second.
MOST_UNDELIVERED_COUNTED: Final = 100
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


class HealthStatus(models.TextChoices):
    """An endpoint's state, as pages show it."""

    DISABLED = "disabled", _("Disabled")
    UNUSED = "unused", _("Nothing sent yet")
    HEALTHY = "healthy", _("Healthy")
    RETRYING = "retrying", _("Retrying")
    FAILING = "failing", _("Failing")
    RECOVERED = "recovered", _("Recovered")


@dataclass(frozen=True, slots=True)
class EndpointHealth:
    """An endpoint's state. `undelivered` counts events that never arrived, up to 101.

    `first_at` is when the first of these was created, `last_at` when the last one failed. `is_noted` means that the
    failure was dismissed.
    """

    state: HealthStatus
    undelivered: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    is_noted: bool = False

    @property
    def undelivered_is_more(self) -> bool:
        return self.undelivered > MOST_UNDELIVERED_COUNTED

    @property
    def needs_attention(self) -> bool:
        """Whether a person should look. It ends when lost events were sent again or dismissed."""
        return self.state in (HealthStatus.RETRYING, HealthStatus.FAILING, HealthStatus.RECOVERED) and not self.is_noted


def with_health(endpoints: "QuerySet[Endpoint]") -> list[tuple[Endpoint, EndpointHealth]]:
    """Return the endpoints with their conditions, in one statement."""
    limits = (MOST_WAITING, MOST_WAITING, MOST_LOOKED_AT, MOST_UNDELIVERED_COUNTED + 1)
    found = RawSQL(FOUND, limits, output_field=models.JSONField())  # noqa: S611  # the statement is a constant
    return [(one, _condition(one, *one.found)) for one in endpoints.annotate(found=found)]


def health_of(endpoints: Collection[Endpoint]) -> dict[int, EndpointHealth]:
    """Return the condition of each endpoint by primary key, in one statement."""
    rows = Endpoint.objects.filter(pk__in=[one.pk for one in endpoints]).defer("secret")
    return {one.pk: condition for one, condition in with_health(rows)}


def needing_attention(endpoints: "QuerySet[Endpoint]", most: int) -> list[tuple[Endpoint, EndpointHealth]]:
    """Return the first endpoints that need attention, at most `most`."""
    return [pair for pair in with_health(endpoints) if pair[1].needs_attention][:most]


def _condition(
    endpoint: Endpoint, undelivered: int, first_at: str | None, last_at: str | None, is_retrying: bool
) -> EndpointHealth:
    dismissed_at, ended_at = endpoint.failures_dismissed_at, endpoint.last_delivery_at
    state = _state(endpoint, undelivered, is_retrying=is_retrying)
    # A dismissal covers the failure as long as no delivery has ended since.
    is_dismissed = bool(dismissed_at and ended_at and ended_at <= dismissed_at)
    is_noted = state == HealthStatus.FAILING and not undelivered and is_dismissed
    return EndpointHealth(state, undelivered, _moment(first_at), _moment(last_at), is_noted)


def _state(endpoint: Endpoint, undelivered: int, *, is_retrying: bool) -> HealthStatus:
    if not endpoint.enabled or endpoint.removed_at:
        return HealthStatus.DISABLED
    if endpoint.last_outcome == Endpoint.Outcome.ERROR:
        return HealthStatus.FAILING
    if is_retrying:
        return HealthStatus.RETRYING
    if undelivered:
        return HealthStatus.RECOVERED
    return HealthStatus.HEALTHY if endpoint.last_outcome else HealthStatus.UNUSED


def _moment(written: str | None) -> datetime | None:
    return datetime.fromisoformat(written) if written else None


HOURS = 24
MOST_WAITING_COUNTED = 1_000

WAITING = """
SELECT endpoint.id, (SELECT count(*) FROM (
    SELECT FROM webhooks_queueddelivery WHERE endpoint_id = endpoint.id AND is_ready
    UNION ALL
    SELECT FROM webhooks_queueddelivery WHERE endpoint_id = endpoint.id AND NOT is_ready
    LIMIT %(most)s + 1) AS counted)
FROM unnest(%(ids)s::bigint[]) AS endpoint (id)
"""


@dataclass(slots=True)
class EndpointActivity:
    """An endpoint's recent outcomes and its waiting deliveries.

    `hours` holds (successes, errors) of this hour and the 23 before it, oldest first. `waiting` stops at 1,001.
    """

    hours: list[tuple[int, int]]
    waiting: int = 0

    @property
    def waiting_is_more(self) -> bool:
        return self.waiting > MOST_WAITING_COUNTED

    @property
    def success_rate(self) -> float | None:
        """The percentage of successful deliveries of the last day, or None without any."""
        good, bad = sum(hour[0] for hour in self.hours), sum(hour[1] for hour in self.hours)
        return 100 * good / (good + bad) if good + bad else None


def endpoint_activity(*, endpoints: Sequence[Endpoint], now: datetime) -> dict[int, EndpointActivity]:
    """Return the state of each endpoint by primary key, in two statements."""
    states = {endpoint.pk: EndpointActivity([(0, 0)] * HOURS) for endpoint in endpoints}
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(WAITING, {"ids": list(states), "most": MOST_WAITING_COUNTED})
        for endpoint_id, waiting in cursor.fetchall():
            states[endpoint_id].waiting = waiting
    since = this_hour - timedelta(hours=HOURS - 1)
    counted = HourlyStats.objects.filter(endpoint_id__in=states, hour__gte=since, hour__lte=this_hour)
    for endpoint_id, hour, successes, errors in counted.values_list("endpoint_id", "hour", "successes", "errors"):
        hours_ago = (this_hour - hour) // timedelta(hours=1)
        states[endpoint_id].hours[HOURS - 1 - hours_ago] = (successes, errors)
    return states


ENDPOINT_FAILS: Final = "endpoint.fails"
WORKSPACE_ENDPOINT_FAILS: Final = "workspace.endpoint_fails"
HOUR: Final = timedelta(hours=1)
LONGEST_SHOWN: Final = 100
TEXT: Final = _("The webhook to %(url)s has been failing for more than an hour.")
LABEL: Final = _("Webhook failing")
KINDS: Final = (
    NotificationKind(name=ENDPOINT_FAILS, label=LABEL, text=TEXT, url_name="console:webhook", names_object=True),
    NotificationKind(
        name=WORKSPACE_ENDPOINT_FAILS,
        label=LABEL,
        text=TEXT,
        url_name="app:webhook",
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
)


def check_failing_endpoints(now: datetime) -> bool:
    """Begin notifications for the next endpoints that have failed for an hour without a success."""

    def check(endpoints: Sequence[Endpoint]) -> None:
        lasting = [one for one in endpoints if one.failing_since and one.failing_since <= now - HOUR]
        for kind, of_agencies in ((ENDPOINT_FAILS, True), (WORKSPACE_ENDPOINT_FAILS, False)):
            found = [_occurrence(one) for one in lasting if (one.workspace_id is None) == of_agencies]
            open_states(kind, found, now=now)

    return check_next_rows("failing endpoints", _failing(), check, now=now)


def end_failures_of_agencies(now: datetime) -> bool:
    """End the notifications of agencies' endpoints that no longer fail."""
    return end_next_states(ENDPOINT_FAILS, _ended, now)


def end_failures_of_workspaces(now: datetime) -> bool:
    """End the notifications of workspaces' endpoints that no longer fail."""
    return end_next_states(WORKSPACE_ENDPOINT_FAILS, _ended, now)


def _failing() -> "QuerySet[Endpoint]":
    return Endpoint.objects.filter(enabled=True, removed_at=None, failing_since__isnull=False)


def _ended(events: Sequence[NotificationEvent]) -> set[str]:
    """Return the keys of the events whose endpoint has stopped failing since they were recorded."""
    rows = _failing().filter(uuid__in=[one.key for one in events]).values_list("uuid", "failing_since")
    since = {str(uuid): at for uuid, at in rows}
    return {one.key for one in events if (at := since.get(one.key)) is None or at > one.created_at}


def _occurrence(endpoint: Endpoint) -> NewNotificationEvent:
    data: dict[str, object] = {"url": Truncator(endpoint.recorded_url).chars(LONGEST_SHOWN)}
    return NewNotificationEvent(tenant=endpoint.tenant, key=str(endpoint.uuid), object_id=str(endpoint.uuid), data=data)


STATE_CHECKS: Final = (
    StateCheck("endpoints of agencies that fail no longer", end_failures_of_agencies),
    StateCheck("endpoints of workspaces that fail no longer", end_failures_of_workspaces),
    StateCheck("failing endpoints", check_failing_endpoints),
)
