"""Fills the queue with any number of deliveries, and empties the tables first."""

from collections.abc import Sequence

from django.db import connection

from agency.models import Agency
from config.leases.connections import open_connection
from config.leases.runs import SHARDS, OwnedShards
from webhooks.dispatcher.fan_out import FanOut
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret

BODY = b'{"id":"' + b"x" * 592
EMPTY = (
    "TRUNCATE webhooks_delivery, webhooks_queueddelivery, webhooks_attempt, webhooks_endpoint, webhooks_hourlystats, "
    "webhooks_dispatcherrun, webhooks_endpointshard, agency_event CASCADE"
)
INSERT = (
    "INSERT INTO agency_event (uuid, agency_id, name, occurred_at, body) "
    "SELECT gen_random_uuid(), (%s::bigint[])[1 + number %% %s %% %s], 'e' || (number %% %s), now(), %s "
    "FROM generate_series(0, %s) number"
)


def fill(agencies: Sequence[Agency], urls: Sequence[str], deliveries: int) -> None:
    """Put `deliveries` deliveries in the queue, an equal share for each URL; agencies get the URLs alternately."""
    with connection.cursor() as cursor:
        cursor.execute(EMPTY)
        Endpoint.objects.bulk_create(
            Endpoint(agency=agencies[number % len(agencies)], url=url, events=[f"e{number}"], secret=new_secret())
            for number, url in enumerate(urls)
        )
        ids = [agency.pk for agency in agencies]
        cursor.execute(INSERT, [ids, len(urls), len(ids), len(urls), BODY, deliveries - 1])
    filling = open_connection("bench")
    shards = OwnedShards(run=0, shards="webhooks_endpointshard", runs="webhooks_dispatcherrun")
    shards.held = frozenset(range(SHARDS))
    fan_out = FanOut(0, shards, lambda: None)
    fan_out.tenants.rescan(filling)
    while fan_out.fan_out(filling):
        pass
    filling.execute("VACUUM ANALYZE webhooks_delivery, webhooks_queueddelivery, agency_event")
    filling.execute("CHECKPOINT")
    filling.close()
