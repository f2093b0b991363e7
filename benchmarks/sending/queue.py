"""The cheapest possible source of messages for a sender: one table, claimed and recorded in bulk."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection as project

from benchmarks.rows import agency_with
from channelconnect.models import ChannelCredential
from channelconnect.providers.message_results import CallResult
from channelconnect.providers.messages import OutgoingMessage, Recipient
from channelconnect.sending.sources import ClaimedMessage, MessageResult, ReadyChannel, SourceState, project_transaction
from config.leases.connections import Connection
from config.postgresql.arrays import integers, texts, timestamps
from workspaces.subaccounts.models import Channel, Workspace

TABLE = """
CREATE TABLE IF NOT EXISTS bench_recipient (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agency_id bigint NOT NULL, channel_id bigint NOT NULL,
    contact_id bigint NOT NULL, phone text NOT NULL, parameters jsonb NOT NULL, created_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now(), stage smallint NOT NULL DEFAULT 0, run bigint,
    tries smallint NOT NULL DEFAULT 0, status text NOT NULL DEFAULT 'pending', sent_at timestamptz,
    provider_message_id text, error_code text
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS bench_recipient_ready ON bench_recipient (channel_id, due_at, id) WHERE stage = 0;
TRUNCATE bench_recipient, channelconnect_senderrun, channelconnect_sendershard
"""
FILL = """
INSERT INTO bench_recipient (agency_id, channel_id, contact_id, phone, parameters, created_at)
SELECT (%(agencies)s::bigint[])[1 + n %% %(channels)s], (%(ids)s::bigint[])[1 + n %% %(channels)s], n,
    '49170' || lpad(n::text, 7, '0'), jsonb_build_array('Person ' || n, 'Tuesday'), now()
FROM generate_series(1, %(messages)s) n
"""
READY_CHANNELS = """
WITH RECURSIVE found AS (
    (SELECT agency_id, channel_id FROM bench_recipient WHERE stage = 0
    ORDER BY channel_id, due_at, id LIMIT 1)
    UNION ALL
    SELECT next.* FROM found CROSS JOIN LATERAL (
        SELECT agency_id, channel_id FROM bench_recipient
        WHERE stage = 0 AND channel_id > found.channel_id ORDER BY channel_id, due_at, id LIMIT 1
    ) AS next
)
SELECT agency_id, channel_id FROM found LIMIT 2000
"""
CLAIM = """
WITH self AS MATERIALIZED (
    SELECT number FROM channelconnect_senderrun WHERE number = %(run)s AND lost_at IS NULL FOR UPDATE
), picked AS MATERIALIZED (
    SELECT due.row FROM unnest(%(channels)s::bigint[], %(rooms)s::int[]) AS asked (channel_id, room)
    CROSS JOIN LATERAL (
        SELECT ctid AS row FROM bench_recipient WHERE channel_id = asked.channel_id AND stage = 0
        ORDER BY due_at, id LIMIT asked.room FOR UPDATE SKIP LOCKED
    ) AS due LIMIT %(batch)s
)
UPDATE bench_recipient SET run = %(run)s, stage = 1
WHERE ctid = ANY (ARRAY (SELECT row FROM picked)) AND EXISTS (SELECT FROM self)
RETURNING id, agency_id, channel_id, contact_id, tries, created_at, phone, parameters
"""
# The statement names the rows twice, and checks the run inside a CASE, where the planner does not use it. Otherwise the
# planner would start with the condition that is rare by its statistics, and search all rows for it.
RECORD = """
UPDATE bench_recipient recipient SET stage = 2, status = ended.status, sent_at = ended.at,
    provider_message_id = ended.message_id, error_code = ended.error_code
FROM unnest(%s::bigint[], %s::text[], %s::timestamptz[], %s::text[], %s::text[])
    AS ended (id, status, at, message_id, error_code)
WHERE recipient.id = ANY (%s::bigint[]) AND recipient.id = ended.id
    AND CASE WHEN recipient.run = %s THEN recipient.stage = 1 ELSE false END
"""
LEFT = "SELECT count(*) FILTER (WHERE status <> 'sent') FROM bench_recipient"
NAME: Final = "bench"


class BenchMessages:
    """A `MessageSource` of template messages with two parameters."""

    name = NAME
    keeps_order = False

    def __init__(self, priority: int = 10) -> None:
        self.priority = priority

    def advance(self, connection: Connection) -> SourceState:
        return SourceState(is_ready=True, is_soon=False)

    def ready_channels(self, connection: Connection, shards: Collection[int]) -> Sequence[ReadyChannel]:
        rows = connection.execute(READY_CHANNELS, prepare=True)
        return [ReadyChannel(agency, 0, channel) for agency, channel in rows]

    def claim(
        self, connection: Connection, *, run: int, rooms: Mapping[int, int], batch: int
    ) -> Sequence[ClaimedMessage]:
        values = {"run": run, "channels": integers(rooms), "rooms": integers(rooms.values()), "batch": batch}
        with connection.cursor(binary=True) as cursor:
            cursor.execute(CLAIM, values, prepare=True)
            return [_claimed(row) for row in cursor.fetchall()]

    def has_more(self, channel: int) -> bool:
        return False

    def record(self, connection: Connection, *, run: int, results: Sequence[MessageResult]) -> int:
        columns = [
            integers([one.row.id for one in results]),
            texts(["sent" if one.outcome.result is CallResult.ACCEPTED else "failed" for one in results]),
            timestamps([datetime.fromtimestamp(one.at, UTC) for one in results]),
            texts([one.outcome.message_id or None for one in results]),
            texts([one.outcome.error.code if one.outcome.error else None for one in results]),
        ]
        with project_transaction() as cursor:
            cursor.execute(RECORD, [*columns, columns[0], run])
            recorded: int = cursor.rowcount
        return recorded

    def give_back(self, connection: Connection, *, run: int, ids: Sequence[int]) -> None:
        statement = "UPDATE bench_recipient SET stage = 0, run = NULL WHERE id = ANY (%s::bigint[]) AND run = %s"
        connection.execute(statement, [integers(ids), run])

    def free(self, connection: Connection, *, runs: Sequence[int]) -> bool:
        return False


def _claimed(row: Sequence[Any]) -> ClaimedMessage:
    parameters = [{"type": "text", "text": text} for text in row[7]]
    template = {"name": "order_ready", "language": "en_US", "components": [{"type": "body", "parameters": parameters}]}
    message = OutgoingMessage(opaque=f"b{row[0]}", to=Recipient(external_id=row[6]), type="template", template=template)
    return ClaimedMessage(NAME, row[0], row[1], row[2], row[3], row[4], row[5], message)


def numbers(workspaces: int, agencies: int) -> list[Channel]:
    """Make a connected WhatsApp number for each of `workspaces` workspaces, shared by `agencies` agencies."""
    found = []
    for share in range(agencies):
        agency, _ = agency_with(workspaces // agencies)
        for number, workspace in enumerate(Workspace.objects.of(agency).order_by("pk")):
            external = f"{agency.pk:06d}{share:03d}{number:06d}"
            channel = Channel.objects.create(
                workspace=workspace, platform="whatsapp", external_id=external, name="Bench", handle=external
            )
            ChannelCredential.objects.create(channel=channel, token=f"token-of-{external}" * 10, container_id="1")
            found.append(channel)
    return found


def fill(channels: Sequence[Channel], messages: int) -> None:
    """Fill the queue with `messages` messages, an equal share for each channel, and nothing else."""
    with project.cursor() as cursor:
        cursor.execute(TABLE)
        values: dict[str, Any] = {
            "agencies": [channel.workspace.agency_id for channel in channels],
            "ids": [channel.pk for channel in channels],
            "channels": len(channels),
            "messages": messages,
        }
        cursor.execute(FILL, values)
        cursor.execute("VACUUM ANALYZE bench_recipient")
        cursor.execute("CHECKPOINT")


def left() -> int:
    """Give the number of messages that are not sent."""
    with project.cursor() as cursor:
        cursor.execute(LEFT)
        return int(cursor.fetchone()[0])
