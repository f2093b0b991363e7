"""Releases deliveries that were held because their agency was suspended.

Dispatchers hold due deliveries of a suspended agency and its workspaces for 24 hours (see `dispatcher.statements`).
"""

from django.db import connection

from agency.models import Agency
from agency.services.agencies import RestorationHandler
from agency.services.events import DISPATCHER
from config.celery import wake_up
from webhooks.models import Endpoint

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


RESTORATION = RestorationHandler("deliveries", release_of_agency)
