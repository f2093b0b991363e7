"""The statements over conversations' queued messages."""

# Whether nothing keeps a channel's messages waiting: looked up channel by channel, however many others there are.
IS_ACTIVE = """(
    SELECT workspace.status = 'active' AND agency.status = 'active' FROM subaccounts_channel channel
    JOIN subaccounts_workspace workspace ON workspace.id = channel.workspace_id
    JOIN agency_agency agency ON agency.id = workspace.agency_id WHERE channel.id = {channel}
)"""
# When a workspace, or its agency, was restored last; what had waited for an hour by then is not sent any more.
RESTORED_AT = """(
    SELECT greatest(workspace.restored_at, agency.restored_at) FROM subaccounts_workspace workspace
    JOIN agency_agency agency ON agency.id = workspace.agency_id WHERE workspace.id = message.workspace_id
)"""

# Whether a message is a template that the provider takes for marketing now.
IS_MARKETING = """(message.type = 'template' AND EXISTS (
    SELECT FROM channelconnect_channelcredential credential
    JOIN channelconnect_messagetemplate template ON template.container_id = credential.container_id
    WHERE credential.channel_id = message.channel_id AND template.name = message.template ->> 'name'
        AND template.language = message.template ->> 'language' AND lower(template.category) = 'marketing'
))"""

# What was put off and is due; nothing waits for longer than `longest`, whatever a clock that was put back says. It also
# says whether anything is ready, whether something is due soon, and whether something has been unknown for too long.
GET_READY = """
WITH made AS (
    UPDATE conversations_queuedmessage SET is_ready = true, position = pg_current_xact_id()::text::bigint
    WHERE message_id = ANY (ARRAY (
        SELECT message_id FROM conversations_queuedmessage
        WHERE NOT is_ready AND NOT is_unknown AND run IS NULL
            AND due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ))
    RETURNING message_id
)
SELECT EXISTS (SELECT FROM made) OR EXISTS (SELECT FROM conversations_queuedmessage WHERE is_ready), EXISTS (
    SELECT FROM conversations_queuedmessage
    WHERE NOT is_ready AND due_at > statement_timestamp()
        AND due_at <= statement_timestamp() + make_interval(secs => %(soon)s)
), EXISTS (
    SELECT FROM conversations_queuedmessage
    WHERE NOT is_ready AND is_unknown
        AND due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
)
"""

# All channels with ready messages but those of suspended workspaces and agencies, walked from channel to channel over
# the index.
READY_CHANNELS = f"""
WITH RECURSIVE found AS (
    (SELECT agency_id, channel_id FROM conversations_queuedmessage
    WHERE is_ready ORDER BY channel_id, position, message_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM found CROSS JOIN LATERAL (
        SELECT agency_id, channel_id FROM conversations_queuedmessage
        WHERE is_ready AND channel_id > found.channel_id ORDER BY channel_id, position, message_id LIMIT 1
    ) AS next
)
SELECT agency_id, channel_id FROM found
WHERE channel_id %% %(of)s = ANY (%(shards)s::bigint[]) AND {IS_ACTIVE.format(channel="found.channel_id")}
LIMIT %(limit)s
"""  # noqa: S608  # texts of our own

# Each is looked at anew: what a status has moved on meanwhile is not called; a contact who has opted out since it was
# written, or was merged with one who had, gets nothing but the confirmation, which the system writes; and a free text
# whose window has closed meanwhile is not tried. Whether the window is open, and stays so for as long as a message may
# take to leave, says what takes of the allowance.
# Takes of each channel what it has room for, one message of a conversation at a time and the oldest first: as long as
# an earlier one is there, out or put off, a later one stays. One whose outcome nobody knows holds up no other.
CLAIM = f"""
WITH self AS MATERIALIZED (
    SELECT number FROM channelconnect_senderrun WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
), picked AS MATERIALIZED (
    SELECT due.message_id FROM (
        SELECT * FROM unnest(%(channels)s::bigint[], %(rooms)s::int[]) AS asked (channel_id, room)
        WHERE {IS_ACTIVE.format(channel="asked.channel_id")}
    ) AS asked
    CROSS JOIN LATERAL (
        SELECT message_id FROM conversations_queuedmessage queued
        WHERE queued.channel_id = asked.channel_id AND queued.is_ready AND NOT EXISTS (
            SELECT FROM conversations_queuedmessage earlier
            WHERE earlier.conversation_id = queued.conversation_id AND earlier.message_id < queued.message_id
                AND NOT earlier.is_unknown)
        ORDER BY queued.position, queued.message_id LIMIT asked.room FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(batch)s
), taken AS (
    UPDATE conversations_queuedmessage SET run = %(run)s, is_ready = false, due_at = clock_timestamp()
    WHERE message_id = ANY (ARRAY (SELECT message_id FROM picked)) AND EXISTS (SELECT FROM self)
    RETURNING message_id, agency_id, channel_id, conversation_id, tries, queued_at
)
SELECT taken.message_id, taken.agency_id, taken.channel_id, conversation.contact_id, taken.tries, message.created_at,
    message.uuid::text, message.type, message.text, message.details, message.template, message.status,
    identity.external_id, identity.user_id, contact.phone, message.media_id,
    CASE WHEN taken.queued_at < {RESTORED_AT} - interval '1 hour' THEN 'workspace_suspended'
        WHEN contact.opted_out_at IS NOT NULL AND message.sent_by_kind <> 'system'
        THEN 'contact_opted_out'
        WHEN contact.marketing_opted_out_at IS NOT NULL AND {IS_MARKETING} THEN 'contact_opted_out'
        WHEN message.type <> 'template' AND conversation.last_inbound_at + %(window)s <= clock_timestamp()
        THEN 'window_closed' ELSE '' END,
    coalesce(conversation.last_inbound_at + %(open)s > clock_timestamp(), false)
FROM taken
JOIN conversations_message message ON message.id = taken.message_id
JOIN conversations_conversation conversation ON conversation.id = taken.conversation_id
JOIN contacts_contact contact ON contact.id = conversation.contact_id
LEFT JOIN LATERAL (
    SELECT external_id, user_id FROM contacts_contactidentity
    WHERE contact_id = conversation.contact_id AND channel_id = taken.channel_id ORDER BY id DESC LIMIT 1
) AS identity ON true
ORDER BY taken.message_id
"""  # noqa: S608  # texts of our own

# What a status has settled meanwhile: the provider has it, whatever it answered, or it has failed for good.
SETTLED = """
DELETE FROM conversations_queuedmessage queued USING conversations_message message
WHERE queued.message_id = ANY (%(ids)s::bigint[]) AND queued.run = %(run)s
    AND message.id = queued.message_id AND message.status <> 'pending'
"""

# Those of them that this run still holds, also where it was taken for lost meanwhile: nobody else has sent them.
LOCK = """
SELECT message_id FROM conversations_queuedmessage
WHERE message_id = ANY (%(ids)s::bigint[]) AND run = %(run)s ORDER BY message_id FOR UPDATE
"""

PUT_OFF = """
UPDATE conversations_queuedmessage queued SET run = NULL, is_ready = false, is_unknown = false, tries = tries + 1,
    due_at = clock_timestamp() + make_interval(secs => waiting.seconds)
FROM unnest(%(ids)s::bigint[], %(seconds)s::float8[]) AS waiting (id, seconds) WHERE queued.message_id = waiting.id
"""

# Templates that found no room in the allowance; they ask again soon, as that is where it opens first.
WAIT_FOR_ROOM = """
UPDATE conversations_queuedmessage SET run = NULL, is_ready = false,
    due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE message_id = ANY (%(ids)s::bigint[]) AND run = %(run)s
"""

NOT_KNOWN = """
UPDATE conversations_queuedmessage
SET is_unknown = true, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE message_id = ANY (%(ids)s::bigint[]) AND NOT is_unknown
"""

GIVE_BACK = """
UPDATE conversations_queuedmessage SET run = NULL, is_ready = true, position = pg_current_xact_id()::text::bigint
WHERE message_id = ANY (%(ids)s::bigint[]) AND run = %(run)s AND NOT is_unknown
"""

FREE = """
UPDATE conversations_queuedmessage
SET is_unknown = true, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE NOT is_ready AND NOT is_unknown AND run = ANY (%(runs)s::bigint[])
"""

# Of those that have been unknown for too long: what a status has settled meanwhile needs no end.
OVERDUE = """
SELECT queued.message_id, message.status = 'pending' FROM conversations_queuedmessage queued
JOIN conversations_message message ON message.id = queued.message_id
WHERE NOT queued.is_ready AND queued.is_unknown
    AND queued.due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
ORDER BY queued.due_at LIMIT %(batch)s FOR UPDATE OF queued SKIP LOCKED
"""
