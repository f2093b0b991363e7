"""Queues deliveries on request: tests and redeliveries."""

import uuid
from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.event_types import event_type
from agency.services import envelope, record_activity
from config.errors import Conflict, NotFound
from config.http.guard import VettedTarget
from webhooks.models import Delivery, Endpoint
from webhooks.services.guarding import check_endpoint_url
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
        _record(queue_delivery(delivery, now=now), "webhook.tested", by)
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
    _record(queue_delivery(again, now=now), "webhook.redelivered", by)
    return again


def require_open(endpoint: Endpoint) -> None:
    """Raise `EndpointGone` if the endpoint is disabled or removed."""
    if endpoint.removed_at or not endpoint.enabled:
        raise EndpointGone


def _record(delivery: Delivery, action: str, by: Actor) -> None:
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
