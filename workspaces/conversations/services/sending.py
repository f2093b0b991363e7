"""What the sender tells of the messages that it has given to a provider."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from config.leases.arrays import integers, texts
from workspaces.conversations.models import QueuedMessage

RECORD = """
UPDATE conversations_message AS message SET
    status = CASE WHEN message.status = 'pending' THEN result.status ELSE message.status END,
    sent_at = CASE WHEN result.status = 'sent' THEN coalesce(message.sent_at, result.at) ELSE message.sent_at END,
    provider_message_id = coalesce(message.provider_message_id, nullif(result.provider_id, '')),
    error_code = CASE WHEN message.status = 'pending' THEN nullif(result.code, '') ELSE message.error_code END,
    error_message = CASE WHEN message.status = 'pending' THEN nullif(result.text, '') ELSE message.error_message END
FROM unnest(%s::bigint[], %s::text[], %s::timestamptz[], %s::text[], %s::text[], %s::text[])
    AS result (id, status, at, provider_id, code, text)
WHERE message.id = result.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """How the sending of one message ended: `status` is sent or failed, `at` when its answer came.

    `message` is the row's id. One that a status has moved on already keeps that.
    """

    message: int
    status: str
    at: datetime
    provider_message_id: str = ""
    error_code: str = ""
    error_message: str = ""


def record_send_results(results: Sequence[SendResult], *, now: datetime) -> int:
    """Move messages on from pending, inside the caller's transaction, and remove their queued rows."""
    values = [
        integers(result.message for result in results),
        texts(result.status for result in results),
        texts(result.at.isoformat() for result in results),
        texts(result.provider_message_id for result in results),
        texts(result.error_code for result in results),
        texts(result.error_message for result in results),
    ]
    with connection.cursor() as cursor:
        cursor.execute(RECORD, values)
        recorded: int = cursor.rowcount
    QueuedMessage.objects.filter(pk__in=[result.message for result in results]).delete()
    return recorded
