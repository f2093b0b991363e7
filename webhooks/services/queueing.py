"""Queues single deliveries, and ends the waiting deliveries of a disabled or removed endpoint."""

from datetime import datetime

from django.db import connection

from agency.services.events import DISPATCHER
from config.celery import wake_up
from webhooks.models import Delivery, Endpoint, QueuedDelivery

ENDED_AT_ONCE = 10_000
ENDPOINT_DISABLED, ENDPOINT_REMOVED = "endpoint_disabled", "endpoint_removed"
AGENCY_SUSPENDED = "agency_suspended"

# Leased deliveries are left to their dispatcher, which checks the endpoint before each attempt. Waiting for its locks
# here could deadlock.
END_WAITING = """
WITH ready AS (
    SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = %(endpoint)s AND is_ready AND run IS NULL
    LIMIT %(most)s FOR UPDATE SKIP LOCKED
), later AS (
    SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = %(endpoint)s AND NOT is_ready AND run IS NULL
    LIMIT %(most)s FOR UPDATE SKIP LOCKED
), ended AS (
    DELETE FROM webhooks_queueddelivery
    WHERE delivery_id = ANY (ARRAY (SELECT delivery_id FROM ready UNION ALL SELECT delivery_id FROM later))
    RETURNING delivery_id
)
UPDATE webhooks_delivery SET status = 'error', error = %(error)s, completed_at = statement_timestamp(),
    failed_at = statement_timestamp()
WHERE id = ANY (ARRAY (SELECT delivery_id FROM ended))
"""


def queue_delivery(delivery: Delivery, *, now: datetime) -> Delivery:
    """Save a new delivery, queue it as due now, and wake the dispatcher, inside the caller's transaction."""
    delivery.created_at = now
    delivery.save(force_insert=True)
    delivery.queued = QueuedDelivery.objects.create(
        delivery=delivery,
        agency_id=delivery.agency_id,
        workspace_id=delivery.workspace_id,
        endpoint_id=delivery.endpoint_id,
        due_at=now,
    )
    wake_up(DISPATCHER)
    return delivery


def end_waiting(endpoint: Endpoint) -> None:
    """Fail the waiting deliveries of a disabled or removed endpoint.

    Beyond ten thousand of each kind, ready or not, dispatchers fail the rest when they are due.
    """
    error = ENDPOINT_REMOVED if endpoint.removed_at else ENDPOINT_DISABLED
    with connection.cursor() as cursor:
        cursor.execute(END_WAITING, {"endpoint": endpoint.pk, "most": ENDED_AT_ONCE, "error": error})
