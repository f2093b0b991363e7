"""Deliveries that people ask for: a test, and the same envelope once more."""

import uuid
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from agency.actors import Actor
from agency.event_types import event_type
from agency.models import Agency
from agency.services import envelope, record_activity
from agency.services.events import DISPATCHER
from config.celery import wake_up
from config.errors import Conflict, NotFound
from webhooks.models import Delivery, Endpoint
from webhooks.services.guarding import check_endpoint_url
from webhooks.services.queueing import queue_delivery


class DeliveryNotFound(NotFound):
    message = "Delivery not found."


class EndpointGone(Conflict):
    message = "This webhook has been removed or is disabled."


def send_test(*, endpoint: Endpoint, event: str, now: datetime, by: Actor) -> Delivery:
    """Queue a sample of an event with `test: true`, to be tried once.

    Raises `UrlRefused` like a registration, and `EndpointGone` when the endpoint is disabled.
    """
    _require_open(endpoint)
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
        _record(queue_delivery(delivery, now=now), "webhook.tested", by)
    return delivery


@transaction.atomic
def redeliver(*, delivery: Delivery, now: datetime, by: Actor) -> Delivery:
    """Queue the same envelope, with the same id, to the same endpoint; the old row stays as it is.

    The new one holds the envelope itself, as it may outlive the event. Raises `EndpointGone` when the endpoint takes
    nothing any more.
    """
    _require_open(delivery.endpoint)
    again = Delivery(
        agency_id=delivery.agency_id,
        workspace_id=delivery.workspace_id,
        endpoint=delivery.endpoint,
        event=delivery.event,
        event_name=delivery.event_name,
        envelope_id=delivery.envelope_id,
        body=delivery.envelope,
        kind=Delivery.Kind.TEST if delivery.test else Delivery.Kind.REDELIVERY,
        max_attempts=delivery.max_attempts,
    )
    _record(queue_delivery(again, now=now), "webhook.redelivered", by)
    return again


MOST_REDELIVERED = 10_000
# Of an envelope that was redelivered before, only the newest delivery counts. A redelivery holds its envelope itself.
REDELIVER_FAILED = """
WITH failed AS (
    SELECT delivery.* FROM webhooks_delivery delivery
    JOIN webhooks_endpoint endpoint ON endpoint.id = delivery.endpoint_id
    WHERE delivery.agency_id = %(agency)s AND delivery.workspace_id IS NULL AND delivery.failed_at >= %(since)s
        AND delivery.kind <> 'test' AND endpoint.enabled AND endpoint.removed_at IS NULL
        AND (%(endpoint)s::bigint IS NULL OR delivery.endpoint_id = %(endpoint)s)
        AND NOT EXISTS (SELECT FROM webhooks_delivery later WHERE later.kind = 'redelivery'
            AND later.envelope_id = delivery.envelope_id AND later.endpoint_id = delivery.endpoint_id
            AND later.id > delivery.id)
    ORDER BY delivery.failed_at LIMIT %(most)s
), made AS (
    INSERT INTO webhooks_delivery (uuid, agency_id, endpoint_id, event_id, event_name, envelope_id, body, kind, status,
        attempts, max_attempts, created_at)
    SELECT gen_random_uuid(), agency_id, endpoint_id, event_id, event_name, envelope_id,
        coalesce(body, (SELECT event.body FROM agency_event event WHERE event.id = event_id)), 'redelivery', 'pending',
        0, 3, %(now)s
    FROM failed ORDER BY id
    RETURNING id, agency_id, endpoint_id, created_at
)
INSERT INTO webhooks_queueddelivery (delivery_id, agency_id, endpoint_id, due_at, is_ready, is_suspect, lost_leases)
SELECT id, agency_id, endpoint_id, created_at, true, false, 0 FROM made
"""


@transaction.atomic
def redeliver_failed(
    *, agency: Agency, since: datetime, now: datetime, by: Actor, endpoint: Endpoint | None = None
) -> int:
    """Queue every envelope of the agency's own that ended as an error since a moment and was not delivered after.

    At most 10,000; says how many.
    """
    values: dict[str, Any] = {
        "agency": agency.pk,
        "since": since,
        "now": now,
        "endpoint": endpoint.pk if endpoint else None,
        "most": MOST_REDELIVERED,
    }
    with connection.cursor() as cursor:
        cursor.execute(REDELIVER_FAILED, values)
        number: int = cursor.rowcount
    target = ("webhook", endpoint.uuid, endpoint.url) if endpoint else ("agency", agency.uuid, agency.name)
    details = {"since": since.isoformat(), "number": number}
    record_activity(by=by, action="webhook.failed_redelivered", agency_id=agency.pk, target=target, details=details)
    wake_up(DISPATCHER)
    return number


def _require_open(endpoint: Endpoint) -> None:
    if endpoint.removed_at or not endpoint.enabled:
        raise EndpointGone


def _record(delivery: Delivery, action: str, by: Actor) -> None:
    target = ("webhook", delivery.endpoint.uuid, delivery.endpoint.url)
    details = {"event": delivery.event_name, "delivery": str(delivery.uuid)}
    record_activity(
        by=by,
        action=action,
        agency_id=delivery.agency_id,
        workspace_uuid=delivery.endpoint.workspace_uuid,
        target=target,
        details=details,
    )
