"""SQL statements over queued messages, in two versions: for people's messages, and for those of automations.

Each version has its own partial indexes. So a mass of automations' messages does not slow down the search for people's.
"""

from typing import Final, NamedTuple, Self

# Whether a channel's messages may be sent. It is looked up for each channel, however many others there are.
IS_ACTIVE: Final = """(
    SELECT workspace.status = 'active' AND agency.status = 'active' FROM subaccounts_channel channel
    JOIN subaccounts_workspace workspace ON workspace.id = channel.workspace_id
    JOIN agency_agency agency ON agency.id = workspace.agency_id WHERE channel.id = {channel}
)"""
# The latest restoration of a workspace or its agency. A message that had waited for an hour by then is not sent any
# more.
RESTORED_AT: Final = """(
    SELECT greatest(workspace.restored_at, agency.restored_at) FROM subaccounts_workspace workspace
    JOIN agency_agency agency ON agency.id = workspace.agency_id WHERE workspace.id = message.workspace_id
)"""

# Whether a message is a template that the provider now counts as marketing.
IS_MARKETING: Final = """(message.type = 'template' AND EXISTS (
    SELECT FROM channelconnect_channelcredential credential
    JOIN channelconnect_messagetemplate template ON template.container_id = credential.container_id
    WHERE credential.channel_id = message.channel_id AND template.name = message.template ->> 'name'
        AND template.language = message.template ->> 'language' AND lower(template.category) = 'marketing'
))"""

# Makes messages ready that were put off and are due. None waits longer than `longest`, even if the clock was set back.
# It also says whether anything is ready, whether something is due soon, and whether something was unknown for too long.
# Each range of times is a condition of its own, so that the index finds its rows however many others wait.
GET_READY: Final = """
WITH made AS (
    UPDATE conversations_queuedmessage SET is_ready = true, position = pg_current_xact_id()::text::bigint
    WHERE message_id = ANY (ARRAY (
        SELECT message_id FROM conversations_queuedmessage
        WHERE {kind} AND NOT is_ready AND NOT is_unknown AND run IS NULL AND {is_due}
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ) || ARRAY (
        SELECT message_id FROM conversations_queuedmessage
        WHERE {kind} AND NOT is_ready AND NOT is_unknown AND run IS NULL AND {is_too_far}
        ORDER BY due_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    ))
    RETURNING message_id
)
SELECT EXISTS (SELECT FROM made) OR EXISTS (SELECT FROM conversations_queuedmessage WHERE {kind} AND is_ready), EXISTS (
    SELECT FROM conversations_queuedmessage
    WHERE {kind} AND NOT is_ready AND due_at > statement_timestamp()
        AND due_at <= statement_timestamp() + make_interval(secs => %(soon)s)
), EXISTS (
    SELECT FROM conversations_queuedmessage WHERE {kind} AND NOT is_ready AND is_unknown AND {is_due}
) OR EXISTS (
    SELECT FROM conversations_queuedmessage WHERE {kind} AND NOT is_ready AND is_unknown AND {is_too_far}
)
"""

# The channels with ready messages, without those of suspended workspaces and agencies. The walk goes over the index
# from channel to channel.
READY_CHANNELS: Final = """
WITH RECURSIVE found AS (
    (SELECT agency_id, workspace_id, channel_id FROM conversations_queuedmessage
    WHERE {kind} AND is_ready ORDER BY channel_id, position, message_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM found CROSS JOIN LATERAL (
        SELECT agency_id, workspace_id, channel_id FROM conversations_queuedmessage
        WHERE {kind} AND is_ready AND channel_id > found.channel_id ORDER BY channel_id, position, message_id LIMIT 1
    ) AS next
)
SELECT agency_id, workspace_id, channel_id FROM found
WHERE channel_id %% %(of)s = ANY (%(shards)s::bigint[]) AND {is_found_active}
LIMIT %(limit)s
"""

# Each message is checked again: a message that a status has settled meanwhile is not sent. A contact who has opted out
# since, or was merged with one who had, gets nothing but the system's confirmation. A free text whose window has closed
# is not tried, unless it answers a comment; an automated one also needs a contact who has written before. A message
# needs no room in the allowance if the window stays open for as long as sending may take.
#
# Takes of each channel as many as it has room for, one message of a conversation at a time, the oldest first. While an
# earlier message is in flight or put off, later ones wait. A message with an unknown outcome holds up no other.
CLAIM: Final = """
WITH self AS MATERIALIZED (
    SELECT number FROM channelconnect_senderrun WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
), picked AS MATERIALIZED (
    SELECT due.message_id FROM (
        SELECT * FROM unnest(%(channels)s::bigint[], %(rooms)s::int[]) AS asked (channel_id, room)
        WHERE {is_asked_active}
    ) AS asked
    CROSS JOIN LATERAL (
        SELECT message_id FROM conversations_queuedmessage queued
        WHERE queued.channel_id = asked.channel_id AND queued.{kind} AND queued.is_ready AND NOT EXISTS (
            SELECT FROM conversations_queuedmessage earlier
            WHERE earlier.conversation_id = queued.conversation_id AND earlier.message_id < queued.message_id
                AND NOT earlier.is_unknown)
        ORDER BY queued.position, queued.message_id LIMIT asked.room FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(batch)s
), taken AS (
    UPDATE conversations_queuedmessage SET run = %(run)s, is_ready = false, due_at = clock_timestamp()
    WHERE message_id = ANY (ARRAY (SELECT message_id FROM picked)) AND EXISTS (SELECT FROM self)
    RETURNING message_id, agency_id, channel_id, conversation_id, tries, queued_at, withdrawn_as, due_at
)
SELECT taken.message_id, taken.agency_id, taken.channel_id, conversation.contact_id, taken.tries, message.created_at,
    message.uuid::text, message.type, message.text, message.details, message.template, message.status,
    identity.external_id, identity.user_id, contact.phone, message.media_id,
    CASE WHEN taken.withdrawn_as <> '' THEN taken.withdrawn_as
        WHEN taken.queued_at < {restored_at} - interval '1 hour' THEN 'workspace_suspended'
        WHEN contact.opted_out_at IS NOT NULL AND message.sent_by_kind <> 'system'
        THEN 'contact_opted_out'
        WHEN contact.marketing_opted_out_at IS NOT NULL AND {is_marketing} THEN 'contact_opted_out'
        WHEN message.type <> 'template' AND NOT message.details ?| ARRAY['comment_reply', 'public_reply']
            AND coalesce(conversation.last_inbound_at + %(window)s <= clock_timestamp(), %(needs_window)s)
        THEN 'window_closed' ELSE '' END,
    coalesce(conversation.last_inbound_at + %(open)s > clock_timestamp(), false), taken.due_at
FROM taken
JOIN conversations_message message ON message.id = taken.message_id
JOIN conversations_conversation conversation ON conversation.id = taken.conversation_id
JOIN contacts_contact contact ON contact.id = conversation.contact_id
LEFT JOIN LATERAL (
    SELECT external_id, user_id FROM contacts_contactidentity
    WHERE contact_id = conversation.contact_id AND channel_id = taken.channel_id ORDER BY id DESC LIMIT 1
) AS identity ON true
ORDER BY taken.message_id
"""

FREE: Final = """
UPDATE conversations_queuedmessage
SET is_unknown = true, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE {kind} AND NOT is_ready AND NOT is_unknown AND run = ANY (%(runs)s::bigint[])
"""

# Messages that were unknown for too long. Those that a status has settled meanwhile need no result.
OVERDUE: Final = """
SELECT queued.message_id, message.status = 'pending' FROM conversations_queuedmessage queued
JOIN conversations_message message ON message.id = queued.message_id
WHERE queued.{kind} AND NOT queued.is_ready AND queued.is_unknown
    AND queued.due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
ORDER BY queued.due_at LIMIT %(batch)s FOR UPDATE OF queued SKIP LOCKED
"""


class QueueStatements(NamedTuple):
    """The statements over the messages of one kind."""

    get_ready: str
    ready_channels: str
    claim: str
    free: str
    overdue: str

    @classmethod
    def of(cls, kind: str) -> Self:
        """Write the statements. `kind` is a condition over a queued message, without the table's name."""
        parts = {
            "kind": kind,
            "is_due": "due_at <= statement_timestamp()",
            "is_too_far": "due_at > statement_timestamp() + make_interval(secs => %(longest)s)",
            "is_found_active": IS_ACTIVE.format(channel="found.channel_id"),
            "is_asked_active": IS_ACTIVE.format(channel="asked.channel_id"),
            "restored_at": RESTORED_AT,
            "is_marketing": IS_MARKETING,
        }
        return cls(*(text.format(**parts) for text in (GET_READY, READY_CHANNELS, CLAIM, FREE, OVERDUE)))


OF_PEOPLE: Final = QueueStatements.of("is_automated = false")
OF_AUTOMATIONS: Final = QueueStatements.of("is_automated = true")
