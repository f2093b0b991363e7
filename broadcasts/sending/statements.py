"""SQL statements over recipients. Each locks recipients in the order of their keys, or passes over locked rows."""

# The broadcasts that have waited longest, by channel. The first of each channel comes before the second of any, so no
# broadcast is forgotten. Broadcasts of a suspended workspace or agency go on once it is restored.
READY = """
SELECT agency_id, workspace_id, channel_id, id FROM (
    SELECT workspace.agency_id, broadcast.workspace_id, broadcast.channel_id, broadcast.id,
        row_number() OVER (PARTITION BY broadcast.channel_id ORDER BY broadcast.next_due_at, broadcast.id) AS place
    FROM broadcasts_broadcast broadcast JOIN subaccounts_workspace workspace ON workspace.id = broadcast.workspace_id
    JOIN agency_agency agency ON agency.id = workspace.agency_id
    WHERE broadcast.status = 'sending' AND broadcast.next_due_at <= statement_timestamp()
        AND broadcast.channel_id %% %(of)s = ANY (%(shards)s::bigint[])
        AND workspace.status = 'active' AND agency.status = 'active'
) AS ready
ORDER BY place, id LIMIT %(limit)s
"""

BROADCASTS = """
SELECT broadcast.id, broadcast.channel_id, workspace.agency_id, broadcast.workspace_id, channel.platform,
    broadcast.frozen
FROM broadcasts_broadcast broadcast
JOIN subaccounts_workspace workspace ON workspace.id = broadcast.workspace_id
JOIN subaccounts_channel channel ON channel.id = broadcast.channel_id
WHERE broadcast.id = ANY (%(ids)s::bigint[]) AND broadcast.frozen IS NOT NULL
"""

LOCK_OWN_RUN = """
SELECT number FROM channelconnect_senderrun WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
"""

# Due recipients of each broadcast that is still being sent, as many as asked for. The search starts after this run's
# position, because dead index entries lie before it while any transaction holds an old snapshot. If no contact row is
# found, the contact was removed. Opt-outs and the window are checked again here, right before the message is sent.
#
# A recipient that was tried before is given up a day after its first claim. Time in which it was due but no sender
# could try it (a pause, a suspension, others before it) does not count, so the claim's time moves forward by it.
PICK = """
SELECT due.place::text, asked.id, due.contact_id, due.due_at, due.tries,
    due.claimed_at + greatest(interval '0', statement_timestamp() - greatest(due.due_at, due.claimed_at)),
    due.address_kind,
    due.address, due.values::text, CASE
        WHEN due.due_at < statement_timestamp() - interval '72 hours' THEN 'too_late'
        WHEN contact.id IS NULL OR due.address IS NULL THEN 'no_address'
        WHEN contact.opted_out_at IS NOT NULL OR contact.marketing_opted_out_at IS NOT NULL THEN 'opted_out'
    END, coalesce(conversation.last_inbound_at > statement_timestamp() - interval '24 hours', false),
    coalesce(conversation.last_inbound_at > statement_timestamp() - make_interval(secs => %(open)s), false)
FROM unnest(%(ids)s::bigint[], %(rooms)s::int[], %(since)s::timestamptz[], %(after)s::bigint[])
    WITH ORDINALITY AS asked (id, room, since, after, turn)
JOIN broadcasts_broadcast broadcast ON broadcast.id = asked.id AND broadcast.status = 'sending'
JOIN subaccounts_workspace workspace ON workspace.id = broadcast.workspace_id AND workspace.status = 'active'
JOIN agency_agency agency ON agency.id = workspace.agency_id AND agency.status = 'active'
CROSS JOIN LATERAL (
    SELECT ctid AS place, contact_id, due_at, tries, claimed_at, address_kind, address, values
    FROM broadcasts_recipient recipient
    WHERE recipient.broadcast_id = asked.id AND recipient.stage = 0 AND recipient.due_at <= statement_timestamp()
        AND (recipient.due_at, recipient.contact_id) > (asked.since, asked.after)
    ORDER BY recipient.due_at, recipient.contact_id LIMIT asked.room FOR NO KEY UPDATE SKIP LOCKED
) AS due
LEFT JOIN contacts_contact contact ON contact.id = due.contact_id
LEFT JOIN conversations_conversation conversation
    ON conversation.channel_id = broadcast.channel_id AND conversation.contact_id = due.contact_id
ORDER BY asked.turn, due.due_at, due.contact_id
"""

# Rows are named by the ctids that PICK and REST locked in this transaction. A locked row is changed by no one else, so
# it stays in its place, and each of these statements sees it there. A statement must not use ctids that it finds
# itself: its snapshot is older than its locks, and it would miss rows that have moved since.
CLAIM = """
UPDATE broadcasts_recipient SET stage = 1, run = %(run)s, is_counted = %(counted)s, claimed_at = coalesce(
        claimed_at + greatest(interval '0', statement_timestamp() - greatest(due_at, claimed_at)), clock_timestamp())
WHERE ctid = ANY (%(places)s::tid[])
"""
HOLD = """
UPDATE broadcasts_recipient recipient SET stage = 3, due_at = told.due_at
FROM unnest(%(places)s::tid[], %(due)s::timestamptz[]) AS told (place, due_at) WHERE recipient.ctid = told.place
"""

# 'no_address' means that the contact was removed while the broadcast was prepared; its data is erased.
SKIP = """
UPDATE broadcasts_recipient recipient SET stage = 4, status = 'skipped', skip_reason = told.reason,
    address = CASE WHEN told.reason <> 'no_address' THEN recipient.address END,
    address_kind = CASE WHEN told.reason <> 'no_address' THEN recipient.address_kind END,
    timezone = CASE WHEN told.reason <> 'no_address' THEN recipient.timezone END,
    values = CASE WHEN told.reason <> 'no_address' THEN recipient.values END
FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[], %(reasons)s::text[])
    AS told (broadcast_id, contact_id, reason)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id AND recipient.stage = 0
RETURNING recipient.broadcast_id, recipient.contact_id
"""

# `next_due_at` says when a waiting recipient may be due. A transaction that makes recipients wait lowers it. So the
# broadcast's row is locked first, and SETTLE then sees the recipients that others have added.
LOCK_BROADCASTS = """
SELECT id FROM broadcasts_broadcast WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR NO KEY UPDATE
"""
LOCK_FREE_BROADCASTS = LOCK_BROADCASTS.rstrip() + " SKIP LOCKED"
REFRESH_NEXT_DUE_AT = """
UPDATE broadcasts_broadcast broadcast SET next_due_at = coming.at
FROM unnest(%(ids)s::bigint[]) AS asked (id) CROSS JOIN LATERAL (
    SELECT least((
        SELECT due_at FROM broadcasts_recipient WHERE broadcast_id = asked.id AND stage = 0
        ORDER BY due_at, contact_id LIMIT 1
    ), (
        SELECT greatest(due_at, statement_timestamp() + interval '1 s') FROM broadcasts_recipient
        WHERE broadcast_id = asked.id AND stage = 3 ORDER BY due_at, contact_id LIMIT 1
    )) AS at
) AS coming
WHERE broadcast.id = asked.id AND broadcast.next_due_at IS DISTINCT FROM coming.at
"""
LOWER_NEXT_DUE_AT = """
UPDATE broadcasts_broadcast broadcast SET next_due_at = told.at
FROM unnest(%(ids)s::bigint[], %(due)s::timestamptz[]) AS told (id, at)
WHERE broadcast.id = told.id AND (broadcast.next_due_at IS NULL OR broadcast.next_due_at > told.at)
"""

# A worker's own connection has the same settings. They find rows by their keys, whatever the statistics say.
BY_KEYS = """
SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_mergejoin = off; SET LOCAL enable_hashjoin = off
"""

# Records recipients that this run still holds. That includes a run that was declared lost meanwhile: no one else has
# sent its messages. Recipients that a faster status has settled are left out. The CASE hides `run` from the planner. By
# its statistics a run is rare, so the planner would start from it and scan the whole table.
SENT = """
WITH sent AS (
    UPDATE broadcasts_recipient recipient SET stage = 4, run = NULL, status = 'sent',
        sent_at = coalesce(recipient.sent_at, to_timestamp(told.at)),
        provider_message_id = coalesce(recipient.provider_message_id, told.message_id)
    FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[], %(times)s::float8[], %(ids)s::text[])
        AS told (broadcast_id, contact_id, at, message_id)
    WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
        AND CASE WHEN recipient.run = %(run)s THEN recipient.stage IN (1, 2) ELSE false END
    RETURNING recipient.broadcast_id
)
SELECT broadcast_id, count(*) FROM sent GROUP BY broadcast_id
"""
FAILED = """
UPDATE broadcasts_recipient recipient SET stage = 4, run = NULL, status = 'failed', failed_at = told.at,
    error_code = told.code, error_message = told.message, error_details = told.details, is_counted = false
FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[], %(times)s::timestamptz[], %(codes)s::text[],
    %(messages)s::text[], %(details)s::text[]) AS told (broadcast_id, contact_id, at, code, message, details)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
    AND CASE WHEN recipient.run = %(run)s THEN recipient.stage IN (1, 2) ELSE false END
RETURNING recipient.broadcast_id, recipient.contact_id
"""
LOCK = """
SELECT broadcast_id, contact_id, address, is_counted, claimed_at > clock_timestamp() - interval '24 hours'
FROM broadcasts_recipient recipient
JOIN unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[]) AS told (broadcast_id, contact_id)
    USING (broadcast_id, contact_id)
WHERE CASE WHEN run = %(run)s THEN stage IN (1, 2) ELSE false END
ORDER BY broadcast_id, contact_id FOR NO KEY UPDATE OF recipient
"""
PUT_OFF = """
UPDATE broadcasts_recipient recipient SET stage = 0, run = NULL, tries = tries + 1, is_counted = false,
    due_at = clock_timestamp() + make_interval(secs => told.seconds)
FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[], %(seconds)s::float8[])
    AS told (broadcast_id, contact_id, seconds)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
    AND CASE WHEN recipient.run = %(run)s THEN recipient.stage IN (1, 2) ELSE false END
RETURNING recipient.broadcast_id, recipient.due_at
"""
MARK_UNKNOWN = """
UPDATE broadcasts_recipient recipient
SET stage = 2, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[]) AS told (broadcast_id, contact_id)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
    AND CASE WHEN recipient.run = %(run)s THEN recipient.stage IN (1, 2) ELSE false END
"""
GIVE_BACK = """
UPDATE broadcasts_recipient recipient SET stage = 0, run = NULL, is_counted = false
FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[]) AS told (broadcast_id, contact_id)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
    AND CASE WHEN recipient.run = %(run)s THEN recipient.stage IN (1, 2) ELSE false END
RETURNING recipient.broadcast_id, recipient.due_at
"""

SETTLED = """
SELECT count(*) FILTER (WHERE recipient.stage = 4) FROM broadcasts_recipient recipient
JOIN unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[]) AS told (broadcast_id, contact_id)
    USING (broadcast_id, contact_id)
"""

# A dead run's messages may have been sent, so they are never sent again. Here and below a statement finds and locks the
# rows once, and changes them by their keys. A click counted meanwhile moves a row, and the key finds its new place.
RELEASE_DEAD_CLAIMS = """
WITH held AS MATERIALIZED (
    SELECT broadcast_id, contact_id FROM broadcasts_recipient
    WHERE stage = 1 AND run = ANY (%(runs)s::bigint[])
    ORDER BY broadcast_id, contact_id LIMIT %(batch)s FOR NO KEY UPDATE
)
UPDATE broadcasts_recipient recipient
SET stage = 2, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
FROM held WHERE recipient.broadcast_id = held.broadcast_id AND recipient.contact_id = held.contact_id
"""
# Whether dead runs still hold recipients. A run is forgotten once it holds none.
HELD_BY_RUNS = """
SELECT EXISTS (SELECT FROM broadcasts_recipient WHERE stage = 1 AND run = ANY (%(runs)s::bigint[]))
"""
IS_OVERDUE = """
stage = 2 AND due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
"""
OVERDUE = f"""
WITH late AS MATERIALIZED (
    SELECT broadcast_id, contact_id FROM broadcasts_recipient WHERE {IS_OVERDUE}
    ORDER BY due_at LIMIT %(batch)s FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE broadcasts_recipient recipient SET stage = 4, status = 'failed', failed_at = clock_timestamp(),
    error_code = %(code)s, error_message = %(message)s
FROM late WHERE recipient.broadcast_id = late.broadcast_id AND recipient.contact_id = late.contact_id
RETURNING recipient.broadcast_id, recipient.contact_id
"""  # noqa: S608  # texts of our own

# Broadcasts with recipients that wait for room, after the last broadcast that was looked at. Waiting for room uses up
# no tries: RELEASE restarts the claim's time.
WITH_HELD = """
FROM broadcasts_broadcast broadcast
JOIN subaccounts_workspace workspace ON workspace.id = broadcast.workspace_id AND workspace.status = 'active'
JOIN agency_agency agency ON agency.id = workspace.agency_id AND agency.status = 'active'
WHERE broadcast.status = 'sending' AND broadcast.id > %(after)s AND EXISTS (
    SELECT FROM broadcasts_recipient recipient WHERE recipient.broadcast_id = broadcast.id AND recipient.stage = 3)
"""
BROADCASTS_WITH_HELD = f"""
SELECT broadcast.id, broadcast.channel_id {WITH_HELD} ORDER BY broadcast.id LIMIT %(limit)s
"""
STILL_READY = """
SELECT count(*) FROM (
    SELECT FROM broadcasts_recipient WHERE broadcast_id = %(id)s AND stage = 0 AND due_at <= statement_timestamp()
    ORDER BY due_at, contact_id LIMIT %(most)s) AS ready
"""
RELEASE = """
WITH first AS MATERIALIZED (
    SELECT contact_id FROM broadcasts_recipient
    WHERE broadcast_id = %(id)s AND stage = 3 ORDER BY due_at, contact_id LIMIT %(room)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE broadcasts_recipient recipient SET stage = 0, due_at = statement_timestamp(),
    claimed_at = CASE WHEN claimed_at IS NOT NULL THEN statement_timestamp() END
FROM first WHERE recipient.broadcast_id = %(id)s AND recipient.contact_id = first.contact_id
"""
# Due recipients of a broadcast that need room in a full allowance. People whom the allowance already counts, or whose
# window is open, need none.
DUE_WITHOUT_ROOM = """
SELECT recipient.ctid::text FROM broadcasts_recipient recipient
JOIN broadcasts_broadcast broadcast ON broadcast.id = recipient.broadcast_id
WHERE recipient.broadcast_id = %(id)s AND recipient.stage = 0 AND recipient.due_at <= statement_timestamp()
    AND recipient.due_at > statement_timestamp() - interval '72 hours'
    AND NOT EXISTS (
        SELECT FROM conversations_conversation conversation
        WHERE conversation.channel_id = broadcast.channel_id AND conversation.contact_id = recipient.contact_id
            AND conversation.last_inbound_at > statement_timestamp() - make_interval(secs => %(open)s))
    AND NOT EXISTS (
        SELECT FROM channelconnect_allowance allowance
        JOIN channelconnect_allowanceuse used ON used.allowance_id = allowance.id
        WHERE allowance.key = %(key)s AND used.address = ltrim(recipient.address, '+'))
ORDER BY recipient.due_at, recipient.contact_id LIMIT %(most)s FOR NO KEY UPDATE OF recipient SKIP LOCKED
"""
HELD = """
SELECT coalesce(sum(counted.held), 0) FROM broadcasts_broadcast broadcast
JOIN broadcasts_broadcastcount counted ON counted.broadcast_id = broadcast.id
WHERE broadcast.channel_id = ANY (%(channels)s::bigint[]) AND broadcast.status IN ('sending', 'paused')
"""
DISCONNECTED = """
SELECT broadcast.id, channel.status FROM broadcasts_broadcast broadcast
JOIN subaccounts_channel channel ON channel.id = broadcast.channel_id
WHERE broadcast.status = 'sending' AND broadcast.next_due_at <= statement_timestamp() AND channel.status <> 'active'
ORDER BY broadcast.id LIMIT %(limit)s
"""

# Whether recipients are due, are due soon, wait for room, or have been unknown for too long.
HAS_WORK = f"""
SELECT EXISTS (
    SELECT FROM broadcasts_broadcast WHERE status = 'sending' AND next_due_at <= statement_timestamp()
), EXISTS (
    SELECT FROM broadcasts_broadcast WHERE status = 'sending' AND next_due_at > statement_timestamp()
        AND next_due_at <= statement_timestamp() + make_interval(secs => %(soon)s)
), EXISTS (SELECT {WITH_HELD.replace("%(after)s", "0")}), EXISTS (SELECT FROM broadcasts_recipient WHERE {IS_OVERDUE})
"""  # noqa: S608  # texts of our own
