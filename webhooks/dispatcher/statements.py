"""The dispatcher's SQL statements. All times are the database's.

Statements are prepared and planned once, without their values. Statistics of the queue are often taken while it is
empty, and a good plan for an empty table joins every row with every other. So three rules hold:

* Rows of the queue are found by an array of keys, never by a join.
* Rows that are joined with a large table go through a LIMIT. The planner takes them for a single row and uses the
  index.
* A search for new rows names an expression that only one index has. Otherwise the planner might walk through all
  waiting rows, because it once took them for none.

Processed rows leave dead rows behind, which stay while any session holds an old snapshot (a backup, a replica). So no
statement starts at the beginning of an index. Each gets the position from which it can find rows.
"""

# Finds tenants with events that no earlier look-up has seen, by transactions in progress and by position. Each part
# reads at most `limit` rows; `limit` rows or more in all mean that there may be others.
NEW_EVENTS = """
WITH new AS MATERIALIZED (
    (SELECT found.* FROM unnest(%(in_progress)s::bigint[]) AS begun (number) CROSS JOIN LATERAL (
        SELECT agency_id, workspace_id, position FROM agency_event
        WHERE CASE WHEN fanned_out_at IS NULL THEN position END = begun.number LIMIT %(limit)s
    ) AS found LIMIT %(limit)s)
    UNION ALL
    (SELECT agency_id, workspace_id, position FROM agency_event
    WHERE CASE WHEN fanned_out_at IS NULL THEN position END >= %(next)s
        AND CASE WHEN fanned_out_at IS NULL THEN position END < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    ORDER BY CASE WHEN fanned_out_at IS NULL THEN position END LIMIT %(limit)s)
)
SELECT pg_current_snapshot()::text, (SELECT count(*) FROM new) > %(limit)s - 1, agency_id, coalesce(workspace_id, 0),
    min(position)
FROM (SELECT) AS always LEFT JOIN new ON true GROUP BY agency_id, coalesce(workspace_id, 0)
"""

# A page of all tenants with events, after a given one. It jumps in the index from tenant to tenant (loose index scan).
EVENTS_OF_TENANTS = """
WITH RECURSIVE found AS (
    (SELECT agency_id, coalesce(workspace_id, 0) AS workspace, position FROM agency_event
    WHERE fanned_out_at IS NULL AND (agency_id, coalesce(workspace_id, 0)) > (%(agency)s, %(workspace)s)
    ORDER BY agency_id, coalesce(workspace_id, 0), position, id LIMIT 1)
    UNION ALL
    SELECT next.* FROM found CROSS JOIN LATERAL (
        SELECT agency_id, coalesce(workspace_id, 0), position FROM agency_event
        WHERE fanned_out_at IS NULL AND (agency_id, coalesce(workspace_id, 0)) > (found.agency_id, found.workspace)
        ORDER BY agency_id, coalesce(workspace_id, 0), position, id LIMIT 1
    ) AS next
)
SELECT agency_id, workspace, position FROM found LIMIT %(page)s
"""

# Creates at most `rows` deliveries for each tenant, so a tenant with many endpoints takes no rows from one with few. An
# event with more endpoints than that continues after the last endpoint (`fanned_out_to`) in the next batch. Endpoints
# belong to the same tenant. An agency has no workspace_id; `coalesce` makes it 0, which the index can search.
FAN_OUT = """
WITH found AS MATERIALIZED (
    SELECT asked.turn, event.*, row_number() OVER (PARTITION BY asked.turn ORDER BY event.position, event.id) AS number
    FROM unnest(%(agencies)s::bigint[], %(workspaces)s::bigint[], %(positions)s::bigint[], %(ids)s::bigint[])
        WITH ORDINALITY AS asked (agency_id, workspace, position, id, turn)
    CROSS JOIN LATERAL (
        SELECT id, position, agency_id, workspace_id, workspace_uuid, uuid, name,
            coalesce(fanned_out_to, 0) AS fanned_out_to
        FROM agency_event
        WHERE agency_event.agency_id = asked.agency_id AND coalesce(workspace_id, 0) = asked.workspace
            AND fanned_out_at IS NULL AND (agency_event.position, agency_event.id) > (asked.position, asked.id)
        ORDER BY position, id LIMIT %(events)s FOR UPDATE SKIP LOCKED
    ) AS event
), pairs AS MATERIALIZED (
    SELECT of_tenant.* FROM generate_series(1, %(tenants)s) AS asked (turn) CROSS JOIN LATERAL (
        SELECT todo.*, endpoint.id AS endpoint_id, endpoint.most_attempts
        FROM (SELECT * FROM found WHERE found.turn = asked.turn ORDER BY number) AS todo CROSS JOIN LATERAL (
            SELECT id, CASE retries WHEN 'extended' THEN 9 ELSE 3 END AS most_attempts FROM webhooks_endpoint
            WHERE agency_id = todo.agency_id AND coalesce(workspace_id, 0) = coalesce(todo.workspace_id, 0)
                AND enabled AND removed_at IS NULL AND todo.name = ANY (events) AND id > todo.fanned_out_to
            ORDER BY id
        ) AS endpoint
        LIMIT %(rows)s
    ) AS of_tenant
), cut AS MATERIALIZED (
    SELECT DISTINCT ON (turn) turn, number, id, endpoint_id FROM pairs
    WHERE turn = ANY (ARRAY (SELECT turn FROM pairs GROUP BY turn HAVING count(*) = %(rows)s))
    ORDER BY turn, number DESC, endpoint_id DESC
), reached AS MATERIALIZED (
    SELECT found.turn, found.number, found.position, found.id, cut.turn IS NULL OR found.number < cut.number AS is_done
    FROM found LEFT JOIN cut ON cut.turn = found.turn WHERE cut.turn IS NULL OR found.number <= cut.number
), made AS (
    INSERT INTO webhooks_delivery (uuid, agency_id, workspace_id, workspace_uuid, endpoint_id, event_id, event_name,
        envelope_id, kind, status, attempts, max_attempts, created_at)
    SELECT gen_random_uuid(), agency_id, workspace_id, workspace_uuid, endpoint_id, id, name, uuid, 'automatic',
        'pending', 0, most_attempts, clock_timestamp()
    FROM pairs
    ON CONFLICT DO NOTHING
    RETURNING id, agency_id, workspace_id, endpoint_id, created_at
), queued AS (
    INSERT INTO webhooks_queueddelivery (delivery_id, agency_id, workspace_id, endpoint_id, due_at, is_ready,
        is_suspect, lost_leases)
    SELECT id, agency_id, workspace_id, endpoint_id, created_at, true, false, 0 FROM made
), done AS (
    UPDATE agency_event SET fanned_out_at = clock_timestamp()
    WHERE id = ANY (ARRAY (SELECT id FROM reached WHERE is_done))
), begun AS (
    UPDATE agency_event SET fanned_out_to = (SELECT endpoint_id FROM cut WHERE cut.id = agency_event.id)
    WHERE id = ANY (ARRAY (SELECT id FROM cut))
)
SELECT (SELECT count(*) FROM pairs), turn, position, id, is_done FROM reached ORDER BY turn, number
"""

# Frees the leases of ended runs, in a page of the queue. A crash uses up none of a delivery's attempts. A delivery
# becomes suspect once several of its dispatchers have died. After ten it fails.
FREE = """
WITH page AS MATERIALIZED (
    SELECT delivery_id, run, lost_leases + %(died)s AS lost_leases FROM webhooks_queueddelivery
    WHERE delivery_id > %(after)s ORDER BY delivery_id LIMIT %(page)s
), lost AS (
    DELETE FROM webhooks_queueddelivery WHERE run = ANY (%(runs)s::bigint[]) AND delivery_id = ANY (ARRAY (
        SELECT delivery_id FROM page WHERE run = ANY (%(runs)s::bigint[]) AND lost_leases >= %(most)s))
    RETURNING delivery_id
), given_up AS (
    UPDATE webhooks_delivery SET status = 'error', error = 'worker_lost', completed_at = clock_timestamp(),
        failed_at = clock_timestamp()
    WHERE id = ANY (ARRAY (SELECT delivery_id FROM lost))
), freed AS (
    UPDATE webhooks_queueddelivery
    SET run = NULL, lost_leases = lost_leases + %(died)s, position = pg_current_xact_id()::text::bigint,
        is_suspect = lost_leases + %(died)s >= %(suspicious)s, is_ready = lost_leases + %(died)s < %(suspicious)s
    WHERE run = ANY (%(runs)s::bigint[]) AND delivery_id = ANY (ARRAY (
        SELECT delivery_id FROM page WHERE run = ANY (%(runs)s::bigint[]) AND lost_leases < %(most)s))
)
SELECT max(delivery_id) FROM page HAVING count(*) = %(page)s
"""

# Nothing should wait longer than `longest` or `longest_of_long`. A row that does was put off before the clock was set
# back, so it is made ready too. The statement also returns whether something is due soon, and whether suspects wait. It
# uses `statement_timestamp()`, which an index can search; `clock_timestamp()` would be compared with every waiting row.
GET_READY = """
WITH made AS (
    UPDATE webhooks_queueddelivery
    SET is_ready = true, is_held = false, waits_long = false, position = pg_current_xact_id()::text::bigint
    WHERE delivery_id = ANY (ARRAY (
        SELECT delivery_id FROM webhooks_queueddelivery
        WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND NOT waits_long AND due_at <= statement_timestamp()
            AND due_at > statement_timestamp() - make_interval(secs => %(late)s)
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ) || ARRAY (
        SELECT delivery_id FROM webhooks_queueddelivery
        WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND waits_long AND due_at <= statement_timestamp()
            AND due_at > statement_timestamp() - make_interval(secs => %(late)s)
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ) || ARRAY (
        SELECT delivery_id FROM webhooks_queueddelivery
        WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND NOT waits_long
            AND due_at > statement_timestamp() + make_interval(secs => %(longest)s)
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ) || ARRAY (
        SELECT delivery_id FROM webhooks_queueddelivery
        WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND waits_long
            AND due_at > statement_timestamp() + make_interval(secs => %(longest_of_long)s)
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ))
    RETURNING delivery_id
)
SELECT (SELECT count(*) FROM made), coalesce((
    SELECT true FROM webhooks_queueddelivery
    WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND NOT waits_long
        AND due_at > statement_timestamp() AND due_at <= statement_timestamp() + make_interval(secs => %(soon)s)
    ORDER BY due_at LIMIT 1
), (
    SELECT true FROM webhooks_queueddelivery
    WHERE NOT is_ready AND NOT is_suspect AND run IS NULL AND waits_long
        AND due_at > statement_timestamp() AND due_at <= statement_timestamp() + make_interval(secs => %(soon)s)
    ORDER BY due_at LIMIT 1
), false), EXISTS (SELECT FROM webhooks_queueddelivery WHERE is_suspect AND run IS NULL)
"""

# Finds endpoints with ready deliveries that no earlier look-up has seen.
NEW_READY = """
WITH new AS MATERIALIZED (
    (SELECT found.* FROM unnest(%(in_progress)s::bigint[]) AS begun (number) CROSS JOIN LATERAL (
        SELECT agency_id, workspace_id, endpoint_id, position FROM webhooks_queueddelivery
        WHERE CASE WHEN is_ready THEN position END = begun.number LIMIT %(limit)s
    ) AS found LIMIT %(limit)s)
    UNION ALL
    (SELECT agency_id, workspace_id, endpoint_id, position FROM webhooks_queueddelivery
    WHERE CASE WHEN is_ready THEN position END >= %(next)s
        AND CASE WHEN is_ready THEN position END < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    ORDER BY CASE WHEN is_ready THEN position END LIMIT %(limit)s)
)
SELECT pg_current_snapshot()::text, (SELECT count(*) FROM new) > %(limit)s - 1, agency_id, workspace_id, endpoint_id,
    min(position)
FROM (SELECT) AS always LEFT JOIN new ON true GROUP BY agency_id, workspace_id, endpoint_id
"""

# A page of all endpoints with ready deliveries, after a given one. It jumps in the index from endpoint to endpoint.
READY_OF_ENDPOINTS = """
WITH RECURSIVE found AS (
    (SELECT agency_id, workspace_id, endpoint_id, position FROM webhooks_queueddelivery
    WHERE is_ready AND endpoint_id > %(endpoint)s ORDER BY endpoint_id, position, delivery_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM found CROSS JOIN LATERAL (
        SELECT agency_id, workspace_id, endpoint_id, position FROM webhooks_queueddelivery
        WHERE is_ready AND endpoint_id > found.endpoint_id ORDER BY endpoint_id, position, delivery_id LIMIT 1
    ) AS next
)
SELECT agency_id, workspace_id, endpoint_id, position FROM found LIMIT %(page)s
"""

# Leases ready deliveries, endpoint by endpoint and each after its cursor, up to a batch.
#
# Suspects with the fewest lost leases come first. Their number at a time falls to a quarter with every further lost
# dispatcher, in the end to one. So a delivery that kills dispatchers is isolated in a few rounds and does not cost
# other deliveries theirs. Thousands that were merely leased when dispatchers were killed are soon done.
CLAIM = """
WITH self AS MATERIALIZED (
    SELECT number FROM webhooks_dispatcherrun WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
), picked AS MATERIALIZED (
    SELECT due.delivery_id
    FROM unnest(%(endpoints)s::bigint[], %(rooms)s::int[], %(positions)s::bigint[], %(ids)s::bigint[])
        AS asked (endpoint_id, room, position, id)
    CROSS JOIN LATERAL (
        SELECT delivery_id FROM webhooks_queueddelivery queued
        WHERE queued.endpoint_id = asked.endpoint_id AND queued.is_ready AND queued.run IS NULL
            AND (queued.position, queued.delivery_id) > (asked.position, asked.id)
        ORDER BY queued.position, queued.delivery_id LIMIT asked.room FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(batch)s
), level AS MATERIALIZED (
    SELECT greatest(1, %(most_suspects)s / (4 ^ (min(lost_leases) - %(suspicious)s))::int) - %(suspects)s AS room,
        min(lost_leases) AS lost_leases
    FROM webhooks_queueddelivery WHERE is_suspect AND run IS NULL
), suspect AS MATERIALIZED (
    SELECT delivery_id FROM webhooks_queueddelivery
    WHERE is_suspect AND run IS NULL AND lost_leases = (SELECT lost_leases FROM level)
        AND endpoint_id %% %(shards)s = ANY (%(held)s::bigint[])
    ORDER BY due_at LIMIT (SELECT greatest(0, room) FROM level) FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE webhooks_queueddelivery SET run = %(run)s
    WHERE EXISTS (SELECT FROM self) AND delivery_id = ANY (ARRAY (
        SELECT delivery_id FROM picked UNION ALL SELECT delivery_id FROM suspect))
    RETURNING delivery_id, position, is_suspect
)
SELECT taken.position, delivery.id, delivery.agency_id, delivery.workspace_id, delivery.endpoint_id, delivery.attempts,
    delivery.max_attempts, taken.is_suspect, delivery.event_name, delivery.envelope_id::text,
    coalesce(delivery.body, event.body),
    (SELECT agency.status = 'suspended' FROM webhooks_endpoint endpoint
        JOIN agency_agency agency ON agency.id = endpoint.agency_id WHERE endpoint.id = delivery.endpoint_id LIMIT 1)
FROM (SELECT * FROM taken LIMIT %(most)s) AS taken
JOIN webhooks_delivery delivery ON delivery.id = taken.delivery_id
LEFT JOIN agency_event event ON event.id = delivery.event_id
"""

# Reads the endpoints that the loop does not know yet, and those with edits that no earlier look-up has seen.
ENDPOINT_SNAPSHOTS = """
SELECT pg_current_snapshot()::text, endpoint.id, uuid, url, secret, previous_secret, previous_secret_until,
    enabled AND removed_at IS NULL, removed_at IS NOT NULL,
    extract(epoch FROM previous_secret_until - clock_timestamp())::float8,
    last_outcome IS NOT DISTINCT FROM 'success'
FROM (SELECT) AS always LEFT JOIN (
    SELECT * FROM webhooks_endpoint WHERE id = ANY (%(unknown)s::bigint[])
    UNION ALL
    SELECT * FROM webhooks_endpoint WHERE edited_in = ANY (%(in_progress)s::bigint[])
    UNION ALL
    SELECT * FROM webhooks_endpoint
    WHERE edited_in >= %(next)s AND edited_in < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
) AS endpoint ON true
"""

RECORD = """
WITH ended AS (
    DELETE FROM webhooks_queueddelivery WHERE delivery_id = ANY (%(ended)s::bigint[]) AND run = %(run)s
    RETURNING delivery_id
), postponed AS (
    UPDATE webhooks_queueddelivery SET run = NULL, lost_leases = 0, is_ready = false, is_suspect = false,
        waits_long = (%(waits)s::float8[])[array_position(%(postponed)s::bigint[], delivery_id)] > %(longest_short)s,
        due_at = clock_timestamp() + make_interval(secs => (1 + %(jitter)s * random())
            * (%(waits)s::float8[])[array_position(%(postponed)s::bigint[], delivery_id)])
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
        (array_agg(outcome ORDER BY id DESC))[1] AS last_outcome, max(id) AS last_delivery
    FROM kept WHERE outcome <> 'pending' GROUP BY endpoint_id
), hourly AS (
    INSERT INTO webhooks_hourlystats AS stats (endpoint_id, hour, successes, errors)
    SELECT endpoint_id, date_trunc('hour', clock_timestamp(), 'UTC'), successes, errors
    FROM counted ORDER BY endpoint_id
    ON CONFLICT (endpoint_id, hour) DO UPDATE
    SET successes = stats.successes + excluded.successes, errors = stats.errors + excluded.errors
), shown AS (
    UPDATE webhooks_endpoint endpoint
    SET last_delivery_at = clock_timestamp(), last_delivery = greatest(endpoint.last_delivery, counted.last_delivery),
        last_outcome = CASE WHEN counted.last_delivery >= coalesce(endpoint.last_delivery, 0)
            THEN counted.last_outcome ELSE endpoint.last_outcome END,
        failing_since = CASE
            WHEN (CASE WHEN counted.last_delivery >= coalesce(endpoint.last_delivery, 0)
                THEN counted.last_outcome ELSE endpoint.last_outcome END) IS NOT DISTINCT FROM 'success' THEN NULL
            WHEN counted.successes > 0 THEN clock_timestamp()
            ELSE coalesce(endpoint.failing_since, clock_timestamp()) END
    FROM counted WHERE endpoint.id = counted.endpoint_id
)
SELECT count(*) FROM kept
"""

GIVE_BACK = """
UPDATE webhooks_queueddelivery SET run = NULL, position = pg_current_xact_id()::text::bigint
WHERE delivery_id = ANY (%(ids)s::bigint[]) AND run = %(run)s
"""

# Holds deliveries of a suspended agency until 24 hours after the suspension, or after the delivery's creation if that
# is later. Deliveries past that time fail. If the agency was restored meanwhile, its deliveries become ready again.
HOLD = """
WITH asked AS MATERIALIZED (
    SELECT queued.delivery_id, of_row.* FROM (
        SELECT delivery_id, endpoint_id FROM webhooks_queueddelivery
        WHERE delivery_id = ANY (%(ids)s::bigint[]) AND run = %(run)s LIMIT %(most)s
    ) AS queued CROSS JOIN LATERAL (
        SELECT agency.id AS agency, CASE WHEN agency.status = 'suspended'
            THEN greatest(agency.suspended_at, delivery.created_at) + make_interval(hours => 24) END AS until
        FROM webhooks_endpoint endpoint JOIN agency_agency agency ON agency.id = endpoint.agency_id
        JOIN webhooks_delivery delivery ON delivery.id = queued.delivery_id
        WHERE endpoint.id = queued.endpoint_id LIMIT 1
    ) AS of_row
), overdue AS (
    DELETE FROM webhooks_queueddelivery WHERE run = %(run)s AND delivery_id = ANY (ARRAY (
        SELECT delivery_id FROM asked WHERE until <= clock_timestamp()))
    RETURNING delivery_id
), ended AS (
    UPDATE webhooks_delivery SET status = 'error', error = %(error)s, completed_at = clock_timestamp(),
        failed_at = clock_timestamp()
    WHERE id = ANY (ARRAY (SELECT delivery_id FROM overdue))
)
UPDATE webhooks_queueddelivery queued
SET run = NULL, is_suspect = false, is_ready = asked.until IS NULL, is_held = asked.until IS NOT NULL,
    waits_long = asked.until IS NOT NULL, due_at = coalesce(asked.until, queued.due_at), agency_id = asked.agency,
    position = pg_current_xact_id()::text::bigint
FROM asked
WHERE queued.delivery_id = ANY (%(ids)s::bigint[]) AND queued.run = %(run)s
    AND queued.delivery_id = asked.delivery_id AND (asked.until IS NULL OR asked.until > clock_timestamp())
"""

# Makes held deliveries ready whose agency is no longer suspended. These are deliveries that the restoration did not see
# or left over. The statement jumps in the index from agency to agency.
RELEASE = """
UPDATE webhooks_queueddelivery
SET is_ready = true, is_held = false, waits_long = false, due_at = clock_timestamp(),
    position = pg_current_xact_id()::text::bigint
WHERE delivery_id = ANY (ARRAY (
    WITH RECURSIVE held AS (
        (SELECT agency_id FROM webhooks_queueddelivery WHERE is_held ORDER BY agency_id LIMIT 1)
        UNION ALL
        SELECT (SELECT agency_id FROM webhooks_queueddelivery WHERE is_held AND agency_id > held.agency_id
            ORDER BY agency_id LIMIT 1)
        FROM held WHERE held.agency_id IS NOT NULL
    )
    SELECT found.delivery_id FROM held JOIN agency_agency agency ON agency.id = held.agency_id
    CROSS JOIN LATERAL (
        SELECT delivery_id FROM webhooks_queueddelivery
        WHERE is_held AND run IS NULL AND agency_id = agency.id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ) AS found
    WHERE agency.status <> 'suspended' LIMIT %(batch)s
))
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
