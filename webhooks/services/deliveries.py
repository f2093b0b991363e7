"""Deliveries that people ask for: a test, and the same envelope once more."""

import uuid
from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.services import envelope, record_activity
from agency.services.events import COURIER_BELL
from config.celery import ring
from config.errors import Conflict, NotFound
from webhooks.models import Delivery, Endpoint
from webhooks.services.guarding import judge_url
from webhooks.services.samples import sample_data


class DeliveryNotFound(NotFound):
    message = "Delivery not found."


class EndpointGone(Conflict):
    message = "This webhook has been removed or is disabled."


def send_test(*, endpoint: Endpoint, event: str, now: datetime, by: Actor) -> Delivery:
    """Queue a sample of an event with `test: true`, to be tried once. Raises `UrlRefused` like a registration."""
    judge_url(endpoint.url)
    identity = uuid.uuid4()
    body = envelope(
        id=identity,
        event=event,
        occurred_at=now,
        agency_id=endpoint.agency_id,
        data=sample_data(event),
        test=True,
    )
    with transaction.atomic():
        delivery = Delivery.objects.create(
            agency_id=endpoint.agency_id,
            endpoint=endpoint,
            event_name=event,
            envelope_id=identity,
            body=body,
            kind=Delivery.Kind.TEST,
            max_attempts=1,
            next_attempt_at=now,
            created_at=now,
        )
        _note(delivery, "webhook.tested", by)
        ring(COURIER_BELL)
    return delivery


@transaction.atomic
def redeliver(*, delivery: Delivery, now: datetime, by: Actor) -> Delivery:
    """Queue the same envelope, with the same id, to the same endpoint; the old row stays as it is.

    Raises `EndpointGone` when the endpoint takes nothing any more.
    """
    if delivery.endpoint.removed_at or not delivery.endpoint.enabled:
        raise EndpointGone
    again = Delivery.objects.create(
        agency_id=delivery.agency_id,
        endpoint=delivery.endpoint,
        event=delivery.event,
        event_name=delivery.event_name,
        envelope_id=delivery.envelope_id,
        body=delivery.body,
        kind=Delivery.Kind.TEST if delivery.test else Delivery.Kind.REDELIVERY,
        max_attempts=delivery.max_attempts,
        next_attempt_at=now,
        created_at=now,
    )
    _note(again, "webhook.redelivered", by)
    ring(COURIER_BELL)
    return again


def _note(delivery: Delivery, action: str, by: Actor) -> None:
    target = ("webhook", delivery.endpoint.uuid, delivery.endpoint.url)
    details = {"event": delivery.event_name, "delivery": str(delivery.uuid)}
    record_activity(by=by, action=action, agency_id=delivery.agency_id, target=target, details=details)
