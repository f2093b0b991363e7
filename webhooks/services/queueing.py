"""Queues deliveries, holds those of a suspended agency, and ends those that nobody wants any more."""

from datetime import datetime

from django.db import connection

from agency.actors import Actor
from agency.models import Agency
from agency.services.agencies import RestorationHandler
from agency.services.events import DISPATCHER
from config.celery import wake_up
from config.db import CurrentTransaction
from webhooks.models import Delivery, Endpoint, QueuedDelivery
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.workspaces import MoveHandler

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


# Dispatchers hold due deliveries of a suspended agency and its workspaces for 24 hours (see `dispatcher.statements`).

RELEASED_AT_ONCE = 10_000
RELEASE = """
UPDATE webhooks_queueddelivery
SET is_ready = true, is_held = false, waits_long = false, due_at = statement_timestamp(),
    position = pg_current_xact_id()::text::bigint
WHERE delivery_id = ANY (ARRAY (
    SELECT delivery_id FROM webhooks_queueddelivery WHERE is_held AND run IS NULL AND {of_whom}
    LIMIT %(most)s FOR UPDATE SKIP LOCKED
))
"""


def _release(of_whom: str, value: int | list[int]) -> None:
    """Make held deliveries ready. Beyond ten thousand, dispatchers find the rest within half a minute."""
    with connection.cursor() as cursor:
        cursor.execute(RELEASE.format(of_whom=of_whom), {"value": value, "most": RELEASED_AT_ONCE})
    wake_up(DISPATCHER)


def release_of_agency(agency: Agency) -> None:
    """Release the held deliveries of a restored agency, in the restoration's transaction."""
    _release("agency_id = %(value)s", agency.pk)


def release_of_workspace(workspace_id: int) -> None:
    """Release the held deliveries of a workspace that leaves a suspended agency, in the move's transaction."""
    endpoints = Endpoint.objects.filter(workspace_id=workspace_id).values_list("pk", flat=True)
    _release("endpoint_id = ANY (%(value)s::bigint[])", list(endpoints))


RESTORATION_HANDLER = RestorationHandler("deliveries", release_of_agency)


def _move_endpoints(workspace: Workspace, target: Agency, now: datetime, by: Actor) -> None:
    """Move the endpoints, also removed ones. Deliveries are found by their workspace and do not change."""
    Endpoint.objects.filter(agency=workspace.agency_id, workspace_id=workspace.pk).update(
        agency=target, edited_in=CurrentTransaction()
    )
    release_of_workspace(workspace.pk)


MOVE_HANDLER = MoveHandler("endpoints", _move_endpoints)
