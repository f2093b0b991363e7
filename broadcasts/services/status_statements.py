"""SQL statements that advance recipients. They usually change no column that is in an index (HOT updates)."""

# The statement reads each row, and changes it only if it is still the same. If a send's result or another reader has
# changed rows meanwhile, or a row has moved to another ctid, then the first result line counts more rows than the
# others. The caller executes the statement again until no row is missed. Ranks are those of `RANKS`. A skipped
# recipient keeps its status.
APPLY = """
WITH news AS MATERIALIZED (
    SELECT * FROM (
        SELECT recipient.ctid AS place, recipient.status AS was, recipient.stage AS was_at,
            recipient.is_billed AS was_billed, recipient.is_counted AS was_counted, recipient.sent_at AS had_sent_at,
            recipient.delivered_at AS had_delivered_at, recipient.read_at AS had_read_at,
            recipient.provider_message_id AS had_id, told.*,
            (ARRAY['pending', 'sent', 'failed', 'delivered', 'read'])[1 + greatest(told.rank,
                CASE recipient.status WHEN 'pending' THEN 0 WHEN 'sent' THEN 1 WHEN 'failed' THEN 2
                    WHEN 'delivered' THEN 3 ELSE 4 END)] AS becomes
        FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[], %(ranks)s::int[], %(sent)s::timestamptz[],
            %(delivered)s::timestamptz[], %(read)s::timestamptz[], %(failed)s::timestamptz[], %(codes)s::text[],
            %(messages)s::text[], %(ids)s::text[], %(billed)s::timestamptz[], %(billable)s::boolean[],
            %(categories)s::text[])
            AS told (broadcast_id, contact_id, rank, sent_at, delivered_at, read_at, failed_at, code, message,
                message_id, billed_at, is_billable, category)
        JOIN broadcasts_recipient recipient
            ON recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
        WHERE recipient.status <> 'skipped'
    ) AS old
    WHERE becomes <> was OR was_at <> 4
        OR (sent_at IS NOT NULL AND (had_sent_at IS NULL OR had_sent_at > sent_at))
        OR (delivered_at IS NOT NULL AND (had_delivered_at IS NULL OR had_delivered_at > delivered_at))
        OR (read_at IS NOT NULL AND (had_read_at IS NULL OR had_read_at > read_at))
        OR (message_id IS NOT NULL AND had_id IS NULL)
        OR (is_billable IS NOT NULL AND NOT was_billed)
), moved AS (
    UPDATE broadcasts_recipient recipient SET stage = 4, status = news.becomes,
        sent_at = least(recipient.sent_at, news.sent_at),
        delivered_at = least(recipient.delivered_at, news.delivered_at),
        read_at = least(recipient.read_at, news.read_at),
        failed_at = CASE news.becomes WHEN 'failed' THEN coalesce(recipient.failed_at, news.failed_at) END,
        error_code = CASE news.becomes WHEN 'failed' THEN coalesce(recipient.error_code, news.code) END,
        error_message = CASE news.becomes WHEN 'failed' THEN coalesce(recipient.error_message, news.message) END,
        error_details = CASE news.becomes WHEN 'failed' THEN recipient.error_details END,
        provider_message_id = coalesce(recipient.provider_message_id, news.message_id),
        is_counted = recipient.is_counted AND (news.becomes <> 'failed' OR news.was = 'failed'),
        is_billed = recipient.is_billed OR news.is_billable IS NOT NULL
    FROM news
    WHERE recipient.ctid = news.place AND recipient.status = news.was AND recipient.stage = news.was_at
        AND recipient.is_billed = news.was_billed AND recipient.is_counted = news.was_counted
    RETURNING recipient.broadcast_id, recipient.contact_id, news.was, news.becomes, news.was_at, news.is_billable,
        news.category, news.billed_at, left(recipient.address, 5) AS prefix, recipient.address,
        NOT news.was_billed AND news.is_billable IS NOT NULL AS is_bill,
        news.was_counted AND recipient.claimed_at > statement_timestamp() - interval '24 hours' AS was_counted
)
SELECT 'all', NULL::bigint, NULL, NULL, false, (SELECT count(*) FROM news), NULL::bigint[], NULL::text[], NULL::date
UNION ALL
SELECT 'moved', broadcast_id, was, becomes, was_at = 3, count(*),
    array_agg(contact_id) FILTER (WHERE becomes = 'failed' AND was <> 'failed'),
    array_agg(address) FILTER (WHERE becomes = 'failed' AND was <> 'failed' AND was_counted), NULL
FROM moved GROUP BY broadcast_id, was, becomes, was_at = 3
UNION ALL
SELECT 'billed', broadcast_id, category, prefix, is_billable, count(*), NULL, NULL,
    date_trunc('month', billed_at AT TIME ZONE 'UTC')::date
FROM moved WHERE is_bill
GROUP BY broadcast_id, category, prefix, is_billable, date_trunc('month', billed_at AT TIME ZONE 'UTC')
"""

# Locks the rows, so that no other transaction changes them and none is missed.
LOCK = """
SELECT FROM broadcasts_recipient recipient
JOIN unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[]) AS told (broadcast_id, contact_id)
    USING (broadcast_id, contact_id)
ORDER BY broadcast_id, contact_id FOR NO KEY UPDATE OF recipient
"""

CHANNELS = """
SELECT id, channel_id FROM broadcasts_broadcast WHERE id = ANY (%(ids)s::bigint[])
"""

# The moment up to which a person has received or read: the reported time, or the time of the named message. That
# message may be a broadcast's or a conversation's.
MARKS = """
SELECT asked.channel_id, asked.address, asked.status, CASE WHEN asked.message_id = '' THEN asked.at ELSE coalesce((
        SELECT max(recipient.sent_at) FROM broadcasts_broadcast broadcast JOIN broadcasts_recipient recipient
            ON recipient.broadcast_id = broadcast.id AND recipient.address = asked.address
        WHERE broadcast.channel_id = asked.channel_id AND broadcast.started_at > %(since)s
            AND recipient.provider_message_id = asked.message_id
    ), (
        SELECT message.provider_time FROM conversations_message message
        WHERE message.channel_id = asked.channel_id AND message.provider_message_id = asked.message_id
    )) END
FROM unnest(%(channels)s::bigint[], %(addresses)s::text[], %(statuses)s::text[], %(ids)s::text[], %(at)s::timestamptz[])
    AS asked (channel_id, address, status, message_id, at)
"""
# Reads by the index of addresses, at most one row of each broadcast of the channel. The network's time of a message
# lies between its claim and its answer; after several tries `claimed_at` belongs to another attempt. Recipients whose
# answer has not come yet are settled too. An unknown message is settled only if its echo has shown that it was sent.
PASSED = """
SELECT recipient.broadcast_id, recipient.contact_id, asked.status, asked.at
FROM unnest(%(channels)s::bigint[], %(addresses)s::text[], %(statuses)s::text[], %(at)s::timestamptz[])
    AS asked (channel_id, address, status, at)
JOIN broadcasts_broadcast broadcast
    ON broadcast.channel_id = asked.channel_id AND broadcast.started_at > %(since)s
JOIN broadcasts_recipient recipient
    ON recipient.broadcast_id = broadcast.id AND recipient.address = asked.address
WHERE least(recipient.sent_at, CASE recipient.tries WHEN 0 THEN recipient.claimed_at END) <= asked.at
    AND (recipient.status = 'sent' OR (recipient.status = 'pending' AND recipient.stage = 1)
    OR (recipient.status = 'delivered' AND asked.status = 'read')
    OR (recipient.status = 'failed' AND recipient.error_code = 'send_outcome_unknown'
        AND recipient.sent_at IS NOT NULL))
"""

# The recipients whose message was sent before their channel's current connection.
BEFORE_CONNECTION = """
SELECT recipient.broadcast_id, recipient.contact_id
FROM unnest(%(broadcasts)s::bigint[], %(contacts)s::bigint[], %(channels)s::bigint[])
    AS asked (broadcast_id, contact_id, channel_id)
JOIN broadcasts_recipient recipient
    ON recipient.broadcast_id = asked.broadcast_id AND recipient.contact_id = asked.contact_id
JOIN subaccounts_channel channel ON channel.id = asked.channel_id
WHERE coalesce(recipient.sent_at, recipient.claimed_at) < channel.connected_at
"""
