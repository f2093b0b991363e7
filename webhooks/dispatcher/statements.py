"""The dispatcher's statements. All times are the database's.

They are prepared once and planned once, without a look at their values. The queue is often empty when its statistics
are taken, and a plan that is right for an empty table joins each row with each. So rows of the queue are found by an
array of keys, never by a join; and what is joined with a large table goes through a LIMIT, which the planner takes
for a single row, so that it walks the index.
"""

# Events are found by state, not by "greater than the last one": they commit out of order. Endpoints are those of the
# same tenant; an agency has no workspace_id, which `coalesce` makes a value that an index can be asked for.
FAN_OUT = """
WITH todo AS MATERIALIZED (
    SELECT id, agency_id, workspace_id, uuid, name FROM agency_event
    WHERE fanned_out_at IS NULL ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
), made AS (
    INSERT INTO webhooks_delivery (uuid, agency_id, workspace_id, endpoint_id, event_id, event_name, envelope_id, kind,
        status, attempts, max_attempts, created_at)
    SELECT gen_random_uuid(), todo.agency_id, todo.workspace_id, endpoint.id, todo.id, todo.name, todo.uuid,
        'automatic', 'pending', 0, 3, clock_timestamp()
    FROM todo JOIN webhooks_endpoint endpoint ON endpoint.agency_id = todo.agency_id
        AND coalesce(endpoint.workspace_id, 0) = coalesce(todo.workspace_id, 0)
    WHERE endpoint.enabled AND endpoint.removed_at IS NULL AND todo.name = ANY (endpoint.events)
    ORDER BY todo.id, endpoint.id
    ON CONFLICT (event_id, endpoint_id) WHERE kind = 'automatic' DO NOTHING
    RETURNING id, agency_id, workspace_id, endpoint_id, created_at
), queued AS (
    INSERT INTO webhooks_queueddelivery (delivery_id, agency_id, workspace_id, endpoint_id, due_at, is_ready,
        is_suspect, leases)
    SELECT id, agency_id, workspace_id, endpoint_id, created_at, true, false, 0 FROM made
)
UPDATE agency_event SET fanned_out_at = clock_timestamp() WHERE id = ANY (ARRAY (SELECT id FROM todo))
"""

# A crash uses up none of the three attempts. What was leased to several dispatchers that died becomes suspect;
# after ten leases without an end it is given up.
FREE = """
WITH lost AS (
    DELETE FROM webhooks_queueddelivery WHERE run = ANY (%(runs)s::bigint[]) AND leases >= %(most)s
    RETURNING delivery_id
), given_up AS (
    UPDATE webhooks_delivery SET status = 'error', error = 'worker_lost', completed_at = clock_timestamp(),
        failed_at = clock_timestamp()
    WHERE id = ANY (ARRAY (SELECT delivery_id FROM lost))
)
UPDATE webhooks_queueddelivery SET run = NULL, is_suspect = leases >= %(suspicious)s, is_ready = leases < %(suspicious)s
WHERE run = ANY (%(runs)s::bigint[]) AND leases < %(most)s
"""

GET_READY = """
UPDATE webhooks_queueddelivery SET is_ready = true WHERE delivery_id = ANY (ARRAY (
    SELECT delivery_id FROM webhooks_queueddelivery
    WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND due_at <= clock_timestamp()
    ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED))
"""

# Suspects are taken up with the fewest leases first, and so many at once: a quarter as many with every dispatcher more
# that died with them, in the end one alone. So what kills dispatchers is found in a few rounds and costs nothing else
# its delivery, and thousands that only were leased when somebody killed dispatchers are soon done.
#
# Walks the index of what is ready from endpoint to endpoint, so that a long queue of one costs the others nothing, and
# takes the endpoints in any order, a bounded number of each agency, so that none is always the last. Those of an agency
# are one of each of its tenants first, then a second of each: whoever has many takes no turn from who has few.
# A tenant is one number here: the workspace's, or for an agency's own the agency's, negative.
CLAIM = """
WITH RECURSIVE mine AS MATERIALIZED (
    SELECT number FROM webhooks_dispatcherrun WHERE number = %(run)s FOR UPDATE
), found (endpoint_id) AS (
    (SELECT endpoint_id FROM webhooks_queueddelivery WHERE is_ready ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT further.endpoint_id FROM webhooks_queueddelivery further
            WHERE further.is_ready AND further.endpoint_id > found.endpoint_id ORDER BY further.endpoint_id LIMIT 1)
    FROM found WHERE found.endpoint_id IS NOT NULL
), open AS MATERIALIZED (
    SELECT endpoint.id AS endpoint_id, endpoint.agency_id, coalesce(known.room, %(first)s) AS room,
        row_number() OVER (PARTITION BY endpoint.agency_id, endpoint.workspace_id ORDER BY random()) AS tenant_turn
    FROM found JOIN webhooks_endpoint endpoint ON endpoint.id = found.endpoint_id
    LEFT JOIN unnest(%(known)s::bigint[], %(rooms)s::int[]) AS known (endpoint_id, room)
        ON known.endpoint_id = found.endpoint_id
    WHERE coalesce(known.room, %(first)s) > 0 AND endpoint.agency_id <> ALL (%(full_agencies)s::bigint[])
        AND coalesce(endpoint.workspace_id, -endpoint.agency_id) <> ALL (%(full_tenants)s::bigint[])
        AND endpoint.agency_id <> ALL (ARRAY (
            SELECT unnest(agencies) FROM webhooks_dispatcherrun WHERE number <> %(run)s))
), picked AS MATERIALIZED (
    SELECT due.delivery_id FROM (
        SELECT endpoint_id, room FROM (
            SELECT endpoint_id, room, row_number() OVER (PARTITION BY agency_id ORDER BY tenant_turn, random()) AS turn
            FROM open
        ) AS fair WHERE turn <= %(turns)s ORDER BY random()
    ) AS turns
    CROSS JOIN LATERAL (
        SELECT queued.delivery_id FROM webhooks_queueddelivery queued
        WHERE queued.endpoint_id = turns.endpoint_id AND queued.is_ready AND queued.run IS NULL
        ORDER BY queued.due_at LIMIT turns.room
    ) due
    LIMIT %(batch)s
), level AS MATERIALIZED (
    SELECT greatest(1, %(most_suspects)s / (4 ^ (min(leases) - %(suspicious)s))::int) - %(suspects)s AS room,
        min(leases) AS leases
    FROM webhooks_queueddelivery WHERE is_suspect AND run IS NULL
), suspect AS MATERIALIZED (
    SELECT delivery_id FROM webhooks_queueddelivery
    WHERE is_suspect AND run IS NULL AND leases = (SELECT leases FROM level) AND agency_id <> ALL (ARRAY (
        SELECT unnest(agencies) FROM webhooks_dispatcherrun WHERE number <> %(run)s))
    ORDER BY due_at LIMIT (SELECT greatest(0, room) FROM level)
), taken AS (
    UPDATE webhooks_queueddelivery SET run = %(run)s, leases = leases + 1
    WHERE delivery_id = ANY (ARRAY (SELECT delivery_id FROM picked UNION ALL SELECT delivery_id FROM suspect))
        AND EXISTS (SELECT FROM mine)
    RETURNING delivery_id, agency_id, is_suspect
), held AS (
    UPDATE webhooks_dispatcherrun
    SET agencies = ARRAY (SELECT unnest(%(held)s::bigint[]) UNION SELECT agency_id FROM taken)
    WHERE number = %(run)s
)
SELECT delivery.id, delivery.agency_id, delivery.workspace_id, delivery.endpoint_id, delivery.attempts,
    delivery.max_attempts, taken.is_suspect, delivery.event_name, delivery.envelope_id::text,
    coalesce(delivery.body, event.body)
FROM (SELECT delivery_id, is_suspect FROM taken LIMIT %(most)s) AS taken
JOIN webhooks_delivery delivery ON delivery.id = taken.delivery_id
LEFT JOIN agency_event event ON event.id = delivery.event_id
"""
CLAIM_LOCK = "SELECT pg_advisory_xact_lock(%(lock)s)"

# What the loop must know of endpoints: those that it sees for the first time, and all that were edited lately.
ENDPOINT_SNAPSHOTS = """
SELECT id, url, secret, enabled AND removed_at IS NULL, last_outcome IS NOT DISTINCT FROM 'success'
FROM webhooks_endpoint WHERE id = ANY (%(unknown)s::bigint[])
UNION
SELECT id, url, secret, enabled AND removed_at IS NULL, last_outcome IS NOT DISTINCT FROM 'success'
FROM webhooks_endpoint WHERE edited_at > clock_timestamp() - make_interval(secs => %(lately)s)
"""

RECORD = """
WITH ended AS (
    DELETE FROM webhooks_queueddelivery WHERE delivery_id = ANY (%(ended)s::bigint[]) AND run = %(run)s
    RETURNING delivery_id
), postponed AS (
    UPDATE webhooks_queueddelivery SET run = NULL, leases = 0, is_ready = false, is_suspect = false,
        due_at = clock_timestamp() + make_interval(secs => (1 + %(jitter)s * random())
            * CASE WHEN delivery_id = ANY (%(second)s::bigint[]) THEN %(second_wait)s ELSE %(third_wait)s END)
    WHERE delivery_id = ANY (%(postponed)s::bigint[]) AND run = %(run)s
    RETURNING delivery_id
), kept AS (
    UPDATE webhooks_delivery delivery
    SET attempts = result.number, response_status = result.response_status, error = result.error,
        status = result.outcome,
        completed_at = CASE WHEN result.outcome <> 'pending' THEN clock_timestamp() END,
        failed_at = CASE WHEN result.outcome = 'error' THEN clock_timestamp() END
    FROM (SELECT * FROM unnest(%(ids)s::bigint[], %(numbers)s::smallint[], %(statuses)s::smallint[], %(errors)s::text[],
        %(outcomes)s::text[], %(started)s::float8[], %(durations)s::float8[], %(dns)s::float8[],
        %(connects)s::float8[], %(tls)s::float8[], %(first_bytes)s::float8[], %(urls)s::text[],
        %(addresses)s::text[], %(signatures)s::bytea[], %(heads)s::text[], %(bodies)s::bytea[])
        AS result (id, number, response_status, error, outcome, started, duration, dns, connect, tls, first_byte, url,
            address, signature, head, body)
        LIMIT %(most)s) AS result
    WHERE delivery.id = result.id AND result.id = ANY (ARRAY (
        SELECT delivery_id FROM ended UNION ALL SELECT delivery_id FROM postponed))
    RETURNING result.*, delivery.endpoint_id
), logged AS (
    INSERT INTO webhooks_attempt (delivery_id, number, started_at, duration_ms, dns_ms, connect_ms, tls_ms,
        first_byte_ms, url, remote_address, signature, response_status, response_headers, response_body, error)
    SELECT id, number, to_timestamp(started), duration, dns, connect, tls, first_byte, url, address, signature,
        response_status, head, body, error
    FROM kept
), counted AS (
    SELECT endpoint_id, count(*) FILTER (WHERE outcome = 'success') AS successes,
        count(*) FILTER (WHERE outcome = 'error') AS errors,
        (array_agg(outcome ORDER BY id DESC))[1] AS last_outcome
    FROM kept WHERE outcome <> 'pending' GROUP BY endpoint_id
), hourly AS (
    INSERT INTO webhooks_hourlystats AS stats (endpoint_id, hour, successes, errors)
    SELECT endpoint_id, date_trunc('hour', clock_timestamp(), 'UTC'), successes, errors
    FROM counted ORDER BY endpoint_id
    ON CONFLICT (endpoint_id, hour) DO UPDATE
    SET successes = stats.successes + excluded.successes, errors = stats.errors + excluded.errors
), shown AS (
    UPDATE webhooks_endpoint SET last_outcome = counted.last_outcome, last_delivery_at = clock_timestamp()
    FROM counted WHERE webhooks_endpoint.id = counted.endpoint_id
)
SELECT count(*) FROM kept
"""

GIVE_BACK = """
UPDATE webhooks_queueddelivery SET run = NULL, leases = leases - 1
WHERE delivery_id = ANY (%(ids)s::bigint[]) AND run = %(run)s
"""

ABANDON = """
WITH ended AS (
    DELETE FROM webhooks_queueddelivery WHERE delivery_id = ANY (%(ids)s::bigint[]) AND run = %(run)s
    RETURNING delivery_id
)
UPDATE webhooks_delivery SET status = 'error', error = %(error)s, completed_at = clock_timestamp(),
    failed_at = clock_timestamp()
WHERE id = ANY (ARRAY (SELECT delivery_id FROM ended))
"""
