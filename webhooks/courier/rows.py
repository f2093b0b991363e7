"""The courier's statements: fan out events, lease due deliveries, record attempts, give back, reap.

All times are the database's. A lease names its owner, and only that owner's record is taken, so a courier that
comes back late cannot overwrite what another one has done since.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

LEASE_SECONDS = 20
MOST_LEASES = 10
FAN_OUT_BATCH = 500
# Advisory locks: any constants that nothing else in this database locks.
CLAIM_LOCK = 7_105_001
PRESENCE = 7_105_002

FAN_OUT = """
WITH todo AS MATERIALIZED (
    SELECT id, agency_id, uuid, name FROM agency_event
    WHERE fanned_out_at IS NULL ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
), made AS (
    INSERT INTO webhooks_delivery (uuid, agency_id, endpoint_id, event_id, event_name, envelope_id, kind, status,
        stage, attempts, max_attempts, leases, next_attempt_at, created_at)
    SELECT gen_random_uuid(), todo.agency_id, endpoint.id, todo.id, todo.name, todo.uuid, 'automatic', 'pending',
        0, 0, 3, 0, clock_timestamp(), clock_timestamp()
    FROM todo JOIN webhooks_endpoint endpoint ON endpoint.agency_id = todo.agency_id
    WHERE endpoint.enabled AND endpoint.removed_at IS NULL AND todo.name = ANY (endpoint.events)
    ORDER BY todo.id
    ON CONFLICT (event_id, endpoint_id) WHERE kind = 'automatic' DO NOTHING
)
UPDATE agency_event SET fanned_out_at = clock_timestamp() FROM todo WHERE agency_event.id = todo.id
"""

# Walks the partial index from endpoint to endpoint, so that a long queue of one costs the others nothing, and
# takes the endpoints in any order, so that none is always the last.
CLAIM = """
WITH RECURSIVE found (endpoint_id) AS (
    (SELECT endpoint_id FROM webhooks_delivery WHERE stage = 0 ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT next.endpoint_id FROM webhooks_delivery next
            WHERE next.stage = 0 AND next.endpoint_id > found.endpoint_id ORDER BY next.endpoint_id LIMIT 1)
    FROM found WHERE found.endpoint_id IS NOT NULL
), waiting AS MATERIALIZED (
    SELECT endpoint_id FROM found WHERE endpoint_id IS NOT NULL ORDER BY random()
), theirs AS MATERIALIZED (
    SELECT DISTINCT agency_id FROM webhooks_delivery WHERE stage = 1 AND lease_owner <> %(owner)s
), picked AS MATERIALIZED (
    SELECT due.id FROM waiting
    JOIN webhooks_endpoint endpoint ON endpoint.id = waiting.endpoint_id
    LEFT JOIN unnest(%(known)s::bigint[], %(room)s::int[]) AS mine (endpoint_id, room)
        ON mine.endpoint_id = waiting.endpoint_id
    CROSS JOIN LATERAL (
        SELECT id, next_attempt_at FROM webhooks_delivery delivery
        WHERE delivery.endpoint_id = waiting.endpoint_id AND delivery.stage = 0
            AND delivery.next_attempt_at <= clock_timestamp()
        ORDER BY delivery.next_attempt_at LIMIT coalesce(mine.room, %(first)s) FOR UPDATE SKIP LOCKED
    ) due
    WHERE endpoint.agency_id <> ALL (%(full)s)
        AND NOT EXISTS (SELECT FROM theirs WHERE theirs.agency_id = endpoint.agency_id)
    LIMIT %(batch)s
)
UPDATE webhooks_delivery delivery
SET stage = 1, leases = leases + 1, lease_owner = %(owner)s,
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
FROM picked, webhooks_endpoint endpoint
WHERE delivery.id = picked.id AND endpoint.id = delivery.endpoint_id
RETURNING delivery.id, delivery.agency_id, delivery.endpoint_id, delivery.attempts, delivery.max_attempts,
    delivery.leases, delivery.event_name, delivery.envelope_id, coalesce(delivery.body, (
        SELECT body FROM agency_event WHERE agency_event.id = delivery.event_id)),
    endpoint.url, endpoint.secret, endpoint.enabled AND endpoint.removed_at IS NULL
"""

RECORD = """
WITH told AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::bigint[], %(numbers)s::smallint[], %(statuses)s::smallint[], %(errors)s::text[],
        %(outcomes)s::text[], %(waits)s::float8[], %(started)s::timestamptz[], %(durations)s::float8[],
        %(dns)s::float8[], %(connects)s::float8[], %(tls)s::float8[], %(first_bytes)s::float8[],
        %(addresses)s::text[], %(request_headers)s::jsonb[], %(response_headers)s::text[], %(bodies)s::bytea[])
    AS told (id, number, status, error, outcome, wait, started, duration, dns, connect, tls, first_byte, address,
        request_headers, response_headers, body)
), kept AS (
    UPDATE webhooks_delivery delivery
    SET attempts = told.number, response_status = told.status, error = told.error, status = told.outcome,
        stage = CASE told.outcome WHEN 'pending' THEN 0 ELSE 2 END,
        next_attempt_at = CASE told.outcome WHEN 'pending'
            THEN clock_timestamp() + make_interval(secs => told.wait) END,
        completed_at = CASE told.outcome WHEN 'pending' THEN NULL ELSE clock_timestamp() END,
        lease_owner = NULL, lease_until = NULL
    FROM told
    WHERE delivery.id = told.id AND delivery.stage = 1 AND delivery.lease_owner = %(owner)s
    RETURNING delivery.id, delivery.endpoint_id, delivery.status
), logged AS (
    INSERT INTO webhooks_attempt (delivery_id, number, started_at, duration_ms, dns_ms, connect_ms, tls_ms,
        first_byte_ms, remote_address, request_headers, response_status, response_headers, response_body, error)
    SELECT told.id, told.number, told.started, told.duration, told.dns, told.connect, told.tls, told.first_byte,
        told.address, told.request_headers, told.status, told.response_headers, told.body, told.error
    FROM told JOIN kept ON kept.id = told.id
), last AS (
    SELECT DISTINCT ON (endpoint_id) endpoint_id, status FROM kept WHERE status <> 'pending'
    ORDER BY endpoint_id, id DESC
), ended AS (
    UPDATE webhooks_endpoint SET last_outcome = last.status, last_delivery_at = clock_timestamp()
    FROM last WHERE webhooks_endpoint.id = last.endpoint_id
)
SELECT count(*) FROM kept
"""

GIVE_BACK = """
UPDATE webhooks_delivery SET stage = 0, leases = leases - 1, lease_owner = NULL, lease_until = NULL
WHERE id = ANY (%(ids)s) AND stage = 1 AND lease_owner = %(owner)s
"""

# A courier holds an advisory lock for as long as its connection lives, so the leases of one that died are free
# at once; the lease's own time covers a courier that hangs. A crash uses up none of the three attempts, but a
# delivery that was leased ten times without an end is given up.
REAP = """
UPDATE webhooks_delivery
SET next_attempt_at = CASE WHEN leases < %(most)s THEN next_attempt_at END, stage = CASE WHEN leases < %(most)s THEN 0 ELSE 2 END,
    status = CASE WHEN leases < %(most)s THEN 'pending' ELSE 'error' END,
    error = CASE WHEN leases < %(most)s THEN error ELSE 'courier_lost' END,
    completed_at = CASE WHEN leases < %(most)s THEN NULL ELSE clock_timestamp() END,
    lease_owner = NULL, lease_until = NULL
WHERE stage = 1 AND (lease_until < clock_timestamp() OR lease_owner NOT IN (
    SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = %(presence)s AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
))
"""


@dataclass(frozen=True, slots=True)
class Leased:
    """A delivery that this courier holds; `secret` is still encrypted."""

    id: int
    agency_id: int
    endpoint_id: int
    attempts: int
    max_attempts: int
    leases: int
    event: str
    envelope_id: UUID
    body: bytes
    url: str
    secret: bytes | None
    wanted: bool


def fan_out(*, batch: int = FAN_OUT_BATCH) -> int:
    """Make a delivery for each subscribed endpoint of each new event; says how many events were done."""
    with connection.cursor() as cursor:
        cursor.execute(FAN_OUT, {"batch": batch})
        return cursor.rowcount


def announce(*, owner: int) -> None:
    """Hold the lock that says this courier lives, for as long as this thread's connection does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [PRESENCE, owner])


def claim(*, owner: int, batch: int, first: int, room: dict[int, int], full: Iterable[int]) -> list[Leased]:
    """Lease due deliveries: `room[endpoint]` more where this courier knows the endpoint, else `first`.

    Agencies in `full` have their share in flight and get nothing now. Agencies of which another courier holds deliveries are left to it, so that limits per endpoint and per agency,
    which each courier keeps, hold over all of them.
    """
    values = {
        "owner": owner,
        "batch": batch,
        "first": first,
        "lease": LEASE_SECONDS,
        "known": list(room),
        "room": list(room.values()),
        "full": list(full),
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])
        cursor.execute(CLAIM, values)
        return [Leased(*row) for row in cursor.fetchall()]


def record(*, owner: int, columns: dict[str, Sequence[Any]]) -> int:
    """Record attempts, a column of values for each field; says how many of the leases were still this owner's."""
    with connection.cursor() as cursor:
        cursor.execute(RECORD, {"owner": owner, **columns})
        return int(cursor.fetchone()[0])


def give_back(*, owner: int, ids: Iterable[int]) -> None:
    """Return leases that were not used."""
    with connection.cursor() as cursor:
        cursor.execute(GIVE_BACK, {"owner": owner, "ids": list(ids)})


def reap() -> int:
    """Make deliveries due again whose courier did not come back in time."""
    with connection.cursor() as cursor:
        cursor.execute(REAP, {"most": MOST_LEASES, "presence": PRESENCE})
        return cursor.rowcount


ABANDON = """
UPDATE webhooks_delivery SET stage = 2, status = 'error', error = %(error)s, next_attempt_at = NULL,
    completed_at = clock_timestamp(), lease_owner = NULL, lease_until = NULL
WHERE id = ANY (%(ids)s) AND stage = 1 AND lease_owner = %(owner)s
"""


def abandon(*, owner: int, ids: Iterable[int], error: str) -> None:
    """End deliveries for which nothing will be sent any more."""
    with connection.cursor() as cursor:
        cursor.execute(ABANDON, {"owner": owner, "ids": list(ids), "error": error})
