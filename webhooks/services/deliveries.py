"""Redeliveries, replays of past events, and deliveries of sample events as tests."""

import uuid
from collections.abc import Collection, Container
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Q
from django.utils import timezone

from agency.actors import Actor
from agency.event_types import event_type
from agency.models import Agency
from agency.services import envelope, record_activity
from agency.services.events import DISPATCHER
from agency.tenants import Audience, Tenant
from config.celery import wake_up
from config.errors import Conflict, InvalidInput, NotFound
from config.http.guard import VettedTarget
from config.postgresql.concurrency import AdvisoryLock
from webhooks.models import Delivery, Endpoint
from webhooks.models.partitions import A_DAY, first_id
from webhooks.services.endpoints import check_endpoint_url
from webhooks.services.log import CLOCKS_DIFFER, first_delivery_since
from webhooks.services.queueing import queue_delivery


class DeliveryNotFound(NotFound):
    message = "Delivery not found."


class EndpointGone(Conflict):
    message = "This webhook has been removed or is disabled."


def send_test(
    *, endpoint: Endpoint, event: str, now: datetime, by: Actor, vetted: VettedTarget | None = None
) -> Delivery:
    """Queue a sample of an event with `test: true`, for a single attempt.

    Callers inside a transaction check the URL before and pass the result as `vetted`. Raises `UrlRefused` as a
    registration does, and `EndpointGone` for a disabled or removed endpoint.
    """
    require_open(endpoint)
    if vetted is None:
        check_endpoint_url(endpoint.url)
    identity = uuid.uuid4()
    body = envelope(
        id=identity,
        event=event,
        occurred_at=now,
        tenant=endpoint.tenant,
        data=event_type(event).sample_data(),
        test=True,
    )
    with transaction.atomic():
        delivery = Delivery(
            agency_id=endpoint.agency_id,
            workspace_id=endpoint.workspace_id,
            endpoint=endpoint,
            event_name=event,
            envelope_id=identity,
            body=body,
            kind=Delivery.Kind.TEST,
            max_attempts=1,
        )
        _record_delivery(queue_delivery(delivery, now=now), "webhook.tested", by)
    return delivery


@transaction.atomic
def redeliver(*, delivery: Delivery, now: datetime, by: Actor) -> Delivery:
    """Queue the same envelope, with the same id, to the same endpoint. The old delivery does not change.

    The new delivery holds the envelope itself, because it may outlive the event. Raises `EndpointGone` for a disabled
    or removed endpoint.
    """
    require_open(delivery.endpoint)
    again = Delivery(
        agency_id=delivery.agency_id,
        workspace_id=delivery.workspace_id,
        workspace_uuid=delivery.workspace_uuid,
        endpoint=delivery.endpoint,
        event=delivery.event,
        event_name=delivery.event_name,
        envelope_id=delivery.envelope_id,
        body=delivery.envelope,
        kind=Delivery.Kind.TEST if delivery.test else Delivery.Kind.REDELIVERY,
        max_attempts=1 if delivery.test else delivery.endpoint.most_attempts,
    )
    _record_delivery(queue_delivery(again, now=now), "webhook.redelivered", by)
    return again


def require_open(endpoint: Endpoint) -> None:
    """Raise `EndpointGone` if the endpoint is disabled or removed."""
    if endpoint.removed_at or not endpoint.enabled:
        raise EndpointGone


def _record_delivery(delivery: Delivery, action: str, by: Actor) -> None:
    target = ("webhook", delivery.endpoint.uuid, delivery.endpoint.recorded_url)
    details = {"event": delivery.event_name, "delivery": str(delivery.uuid)}
    record_activity(
        by=by,
        action=action,
        agency_id=delivery.agency_id,
        workspace_uuid=delivery.endpoint.workspace_uuid,
        target=target,
        details=details,
    )


MOST_REPLAYED = 10_000
MOST_LOOKED_AT = 200_000
REPLAYED_AT_ONCE = 2_000

# Only the newest delivery of an envelope counts, and only if it has ended. A redelivery made meanwhile has its own
# outcome or is pending. Tests are left out. Newer redeliveries are looked up one by one. NOT EXISTS would become a
# join, which reads all of them for each row if PostgreSQL took its statistics while the day was empty.
BATCH_OF_LOG = """
WITH looked_at AS MATERIALIZED (
    SELECT * FROM webhooks_delivery
    WHERE {leading} AND id > %(after)s AND id < %(end)s ORDER BY {order}, id LIMIT {batch}
), wanted AS MATERIALIZED (
    SELECT delivery.* FROM looked_at delivery
    WHERE kind <> 'test' AND status <> 'pending' AND created_at >= %(since)s
        AND (%(events)s::text[] IS NULL OR event_name = ANY (%(events)s::text[]))
        AND EXISTS (SELECT FROM webhooks_endpoint WHERE id = endpoint_id AND enabled AND removed_at IS NULL)
        AND (SELECT later.id FROM webhooks_delivery later WHERE later.kind = 'redelivery'
            AND later.envelope_id = delivery.envelope_id AND later.endpoint_id = delivery.endpoint_id
            AND later.id > delivery.id LIMIT 1) IS NULL
    ORDER BY id LIMIT %(room)s
)"""
COUNT = """
SELECT count(*), min(id), max(id), (SELECT max(id) FROM looked_at), (SELECT count(*) FROM looked_at) FROM wanted
"""
# A redelivery holds the envelope itself, because it may outlive the event.
QUEUE = """, made AS (
    INSERT INTO webhooks_delivery (uuid, agency_id, workspace_id, workspace_uuid, endpoint_id, event_id, event_name,
        envelope_id, body, kind, status, attempts, max_attempts, created_at)
    SELECT gen_random_uuid(), agency_id, workspace_id, workspace_uuid, endpoint_id, event_id, event_name, envelope_id,
        coalesce(body, (SELECT event.body FROM agency_event event WHERE event.id = event_id)), 'redelivery', 'pending',
        0, (SELECT CASE retries WHEN 'extended' THEN 9 ELSE 3 END FROM webhooks_endpoint WHERE id = endpoint_id),
        %(now)s
    FROM wanted ORDER BY wanted.id
    RETURNING id, agency_id, workspace_id, endpoint_id, created_at
), queued AS (
    INSERT INTO webhooks_queueddelivery (delivery_id, agency_id, workspace_id, endpoint_id, due_at, is_ready,
        is_suspect, lost_leases)
    SELECT id, agency_id, workspace_id, endpoint_id, created_at, true, false, 0 FROM made
)
SELECT count(*), min(id), max(id), (SELECT max(id) FROM looked_at), (SELECT count(*) FROM looked_at) FROM made
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The deliveries to send again: to one or all enabled endpoints, since a moment, failed ones or all, by event."""

    tenant: Tenant
    since: datetime
    endpoint: Endpoint | None = None
    failed_only: bool = True
    events: Collection[str] | None = None

    @property
    def leading(self) -> tuple[str, str]:
        """The conditions that an index answers, and its order, oldest first (see `services.log` on the range)."""
        owner = "agency_id" if self.tenant.workspace_id is None else "workspace_id"
        field = "endpoint_id" if self.endpoint else owner
        conditions = [f"{field} >= %({field})s", f"{field} <= %({field})s"]
        if field == "agency_id":
            conditions.append("workspace_id IS NULL")
        if self.failed_only:
            conditions.append("failed_at IS NOT NULL")
        return " AND ".join(conditions), f"{field} DESC"

    def sql(self, then: str) -> str:
        leading, order = self.leading
        return BATCH_OF_LOG.format(leading=leading, order=order, batch=REPLAYED_AT_ONCE) + then

    def values(self, now: datetime) -> dict[str, int | list[str] | datetime | None]:
        return {
            "agency_id": self.tenant.agency_id,
            "workspace_id": self.tenant.workspace_id,
            "endpoint_id": self.endpoint.pk if self.endpoint else None,
            "since": self.since,
            "events": list(self.events) if self.events else None,
            "end": first_id(now.date() + 2 * A_DAY),
            "now": now,
        }


class ReplayResult(NamedTuple):
    """The number of created deliveries, and the primary keys of the first and the last. Others may lie between them."""

    number: int = 0
    first: int = 0
    last: int = 0


class ReplayProgress(NamedTuple):
    """The current counts of a replay's deliveries by outcome."""

    pending: int
    succeeded: int
    failed: int


def count_replay(replay: Replay) -> int:
    """Return how many deliveries a replay would create now."""
    return _in_batches(replay, COUNT, now=timezone.now()).number


@transaction.atomic
def replay_deliveries(replay: Replay, *, now: datetime, by: Actor) -> ReplayResult:
    """Queue new deliveries of the log's envelopes, oldest first, at most 10,000. Raises `EndpointGone`.

    All of them are committed in one transaction, or none.
    """
    if replay.endpoint:
        require_open(replay.endpoint)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, %s)", [AdvisoryLock.REPLAY.value, replay.tenant.agency_id % 2**31]
        )
    replayed = _in_batches(replay, QUEUE, now=now)
    if replayed.number:
        _record_replay(replay, replayed.number, by)
        wake_up(DISPATCHER)
    return replayed


def replay_progress(replayed: ReplayResult, *, tenant: Tenant, at: datetime) -> ReplayProgress:
    """Return the progress of the deliveries that a replay created at this moment."""
    made = Delivery.objects.of_tenant(tenant).filter(pk__gte=replayed.first, pk__lte=replayed.last)
    counts = made.filter(kind=Delivery.Kind.REDELIVERY, created_at=at).aggregate(
        **{status: Count("pk", filter=Q(status=status)) for status in Delivery.Status.values}
    )
    return ReplayProgress(counts["pending"], counts["success"], counts["error"])


def _in_batches(replay: Replay, then: str, *, now: datetime) -> ReplayResult:
    """Process the log in statements of some thousand rows each, until the limits are reached."""
    values, sql = replay.values(now), replay.sql(then)
    after = first_delivery_since(replay.since, now=now, aside=-CLOCKS_DIFFER) - 1
    done = ReplayResult()
    for _ in range(MOST_LOOKED_AT // REPLAYED_AT_ONCE):
        with connection.cursor() as cursor:
            cursor.execute(sql, {**values, "after": after, "room": MOST_REPLAYED - done.number})
            found, first, last, after, looked_at = cursor.fetchone()
        if found:
            done = ReplayResult(done.number + found, done.first or first, last)
        if looked_at < REPLAYED_AT_ONCE or done.number >= MOST_REPLAYED:
            break
    return done


def _record_replay(replay: Replay, number: int, by: Actor) -> None:
    endpoint, tenant = replay.endpoint, replay.tenant
    if endpoint:
        target = ("webhook", endpoint.uuid, endpoint.recorded_url)
    else:
        agency = Agency.objects.only("uuid", "name").get(pk=tenant.agency_id)
        target = ("agency", agency.uuid, agency.name)
    record_activity(
        by=by,
        action="webhook.failed_redelivered" if replay.failed_only else "webhook.replayed",
        agency_id=tenant.agency_id,
        workspace_uuid=tenant.workspace_uuid,
        target=target,
        details={
            "since": replay.since.isoformat(),
            "number": number,
            **({"events": [*replay.events]} if replay.events else {}),
        },
    )


TENANTS = {
    Audience.AGENCY: Tenant(42),
    Audience.WORKSPACE: Tenant(42, 1, uuid.UUID("8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")),
}


class NoSampleEvent(InvalidInput):
    field = "event"
    message = "None of this webhook's events is in the catalogue now."


def sample_envelope(event: str) -> bytes:
    """Return a complete envelope as a receiver gets it, for the documentation."""
    declared = event_type(event)
    return envelope(
        id=uuid.UUID("5b0b1a52-6d4c-4f0e-8f5e-7c1f6f1f2a10"),
        event=event,
        occurred_at=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
        tenant=TENANTS[declared.audience],
        data=declared.sample_data(),
    )


def choose_sample_event(endpoint: Endpoint, event: str | None, catalogue: Container[str]) -> str:
    """Return the event that a test samples: the requested one, else the endpoint's first event in the catalogue.

    Raises `NoSampleEvent` if there is none.
    """
    found = next((one for one in ([event] if event else endpoint.events) if one in catalogue), None)
    if found is None:
        raise NoSampleEvent
    return found
