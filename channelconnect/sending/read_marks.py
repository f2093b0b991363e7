"""Read marks as a source of the sender. They come after all messages, and are sent once, whatever the result."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from channelconnect.providers.messages import READ, OutgoingMessage, Recipient
from channelconnect.sending.queue_statements import IS_ACTIVE
from channelconnect.sending.sources import ClaimedMessage, MessageResult, ReadyChannel, SourceState
from config.leases.connections import Connection
from config.leases.runs import SHARDS
from config.postgresql.arrays import integers

NAME: Final = "read_marks"

ANY = "SELECT EXISTS (SELECT FROM conversations_readmark)"
READY_CHANNELS = f"""
SELECT found.agency_id, channel.workspace_id, found.channel_id FROM (
    SELECT agency_id, channel_id FROM conversations_readmark
    WHERE channel_id %% %(of)s = ANY (%(shards)s::bigint[]) GROUP BY 1, 2
) AS found
JOIN subaccounts_channel channel ON channel.id = found.channel_id
WHERE {IS_ACTIVE.format(channel="found.channel_id")} LIMIT 2000
"""  # noqa: S608  # texts of our own
# The claim deletes them. If the sender dies before it has sent a mark, the mark is lost.
CLAIM = f"""
WITH picked AS MATERIALIZED (
    SELECT due.conversation_id FROM (
        SELECT * FROM unnest(%(channels)s::bigint[], %(rooms)s::int[]) AS asked (channel_id, room)
        WHERE {IS_ACTIVE.format(channel="asked.channel_id")}
    ) AS asked
    CROSS JOIN LATERAL (
        SELECT conversation_id FROM conversations_readmark WHERE channel_id = asked.channel_id
        ORDER BY conversation_id LIMIT asked.room FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(batch)s
), taken AS (
    DELETE FROM conversations_readmark WHERE conversation_id = ANY (ARRAY (SELECT conversation_id FROM picked))
    RETURNING conversation_id, agency_id, channel_id
)
SELECT taken.conversation_id, taken.agency_id, taken.channel_id, conversation.contact_id, newest.provider_message_id,
    identity.external_id, identity.user_id, clock_timestamp()
FROM taken
JOIN conversations_conversation conversation ON conversation.id = taken.conversation_id
CROSS JOIN LATERAL (
    SELECT provider_message_id FROM conversations_message message
    WHERE message.conversation_id = taken.conversation_id AND message.provider_time <= conversation.read_up_to
        AND message.direction = 'in' AND message.provider_message_id IS NOT NULL
    ORDER BY message.provider_time DESC, message.id DESC LIMIT 1
) AS newest
LEFT JOIN LATERAL (
    SELECT external_id, user_id FROM contacts_contactidentity
    WHERE contact_id = conversation.contact_id AND channel_id = taken.channel_id ORDER BY id DESC LIMIT 1
) AS identity ON true
ORDER BY taken.conversation_id
"""  # noqa: S608  # texts of our own


class ReadMarks:
    """A `MessageSource` of `ReadMark` rows."""

    name = NAME
    priority = 20
    keeps_order = False

    def advance(self, connection: Connection) -> SourceState:
        """A read mark is never put off."""
        row = connection.execute(ANY, prepare=True).fetchone()
        return SourceState(is_ready=bool(row and row[0]), is_soon=False)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        values = {"shards": integers(shards), "of": SHARDS}
        return [ReadyChannel._make(row) for row in connection.execute(READY_CHANNELS, values, prepare=True)]

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        values = {"channels": integers(rooms), "rooms": integers(rooms.values()), "batch": batch}
        with connection.cursor(binary=True) as cursor:
            cursor.execute(CLAIM, values, prepare=True)
            rows = cursor.fetchall()
        return [_claimed(row) for row in rows]

    def has_more(self, channel: int) -> bool:
        return False

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        return len(results)

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        """The last marks of a sender that ends are lost."""

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        """A read mark is never claimed for longer than a call."""
        return False


def _claimed(row: Sequence[Any]) -> ClaimedMessage:
    message = OutgoingMessage(opaque="", to=Recipient(row[5], row[6]), type=READ, reply_to=row[4])
    return ClaimedMessage(NAME, row[0], row[1], row[2], row[3], 0, row[7], message)
