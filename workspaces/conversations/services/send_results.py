"""Records the sender's results, and fails queued messages after a restore from a backup."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils.translation import gettext_lazy as _

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import NewNotificationEvent, record_notifications
from agency.tenants import Audience
from config.postgresql.arrays import integers, texts, timestamps
from workspaces.conversations.facts import storable
from workspaces.conversations.models import QueuedMessage
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.services.conversations import MESSAGE_TOPICS, announce_changes, record_message_events
from workspaces.conversations.services.inbound.changes import schedule_parked_changes
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import tenant_of

LONGEST_CODE, LONGEST_ERROR = 60, 1_000

LOCK = """
SELECT id, workspace_id, conversation_id, status, channel_id FROM conversations_message
WHERE id = ANY (%s::bigint[]) ORDER BY id FOR NO KEY UPDATE
"""
# An echo of our message may come before the answer with the message's id. It was then stored as sent elsewhere. It is
# the same message, so it is deleted.
FORGET_ECHOES = """
DELETE FROM conversations_message echo
USING unnest(%s::bigint[], %s::text[]) AS result (id, provider_id)
JOIN conversations_message ours ON ours.id = result.id
WHERE echo.channel_id = ours.channel_id AND echo.provider_message_id = result.provider_id AND echo.id <> ours.id
    AND echo.sent_elsewhere
RETURNING echo.id, ours.id
"""
SHOW_OURS = """
UPDATE conversations_conversation conversation
SET last_message = ours.id, last_message_uuid = ours.uuid, last_message_at = ours.provider_time,
    last_message_type = ours.type, last_message_preview = left(ours.text, %s)
FROM unnest(%s::bigint[], %s::bigint[]) AS same (echo, ours)
JOIN conversations_message ours ON ours.id = same.ours
WHERE conversation.id = ours.conversation_id AND conversation.last_message = same.echo
"""
# A sent message is ordered by the time when the provider got it, unless the provider has reported its own time.
RECORD = """
UPDATE conversations_message message
SET status = CASE WHEN message.status = 'pending' THEN result.status ELSE message.status END,
    sent_at = CASE WHEN result.status = 'sent' THEN coalesce(message.sent_at, result.at) ELSE message.sent_at END,
    provider_time = CASE WHEN result.status = 'sent' AND message.provider_time = message.created_at
        THEN greatest(message.provider_time, result.at) ELSE message.provider_time END,
    provider_message_id = coalesce(message.provider_message_id, result.provider_id),
    error_code = CASE WHEN message.status = 'pending' THEN result.error_code ELSE message.error_code END,
    error_message = CASE WHEN message.status = 'pending' THEN result.error_message ELSE message.error_message END
FROM unnest(%s::bigint[], %s::text[], %s::timestamptz[], %s::text[], %s::text[], %s::text[])
    AS result (id, status, at, provider_id, error_code, error_message)
WHERE message.id = result.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """The result of sending one message. `status` is sent or failed, `at` is when the provider got the message.

    `message` is the row's primary key. A message that has a later status already keeps it.
    """

    message: int
    status: str
    at: datetime
    provider_message_id: str = ""
    error_code: str = ""
    error_message: str = ""


def record_send_results(results: Sequence[SendResult], *, now: datetime) -> int:
    """Set the status of pending messages and remove their queued rows, in the caller's transaction. Return how many."""
    if not results:
        return 0
    by_id = {result.message: result for result in results}
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [integers(by_id)])
        rows: list[tuple[int, int, int, str, int]] = cursor.fetchall()
        accepted = {one.message: storable(one.provider_message_id) for one in results if one.provider_message_id}
        if accepted:
            _forget_echoes(cursor, accepted)
        cursor.execute(RECORD, _columns([by_id[row[0]] for row in rows]))
    QueuedMessage.objects.filter(pk__in=list(by_id)).delete()
    # A task applies the changes that came before these ids were known, because it may wait for callback readers.
    schedule_parked_changes([(row[4], accepted[row[0]]) for row in rows if row[0] in accepted], now=now)
    moved = [row for row in rows if row[3] == "pending"]
    record_message_events([(MESSAGE_TOPICS[by_id[row[0]].status], row[1], row[0]) for row in moved], now=now)
    announce_changes((workspace, conversation) for _, workspace, conversation, *_ in moved)
    return len(rows)


def _forget_echoes(cursor: CursorWrapper, accepted: Mapping[int, str]) -> None:
    cursor.execute(FORGET_ECHOES, [integers(accepted), texts(accepted.values())])
    same = cursor.fetchall()
    if same:
        echoes, ours = zip(*same, strict=True)
        cursor.execute(SHOW_OURS, [LONGEST_PREVIEW, integers(echoes), integers(ours)])


def _columns(results: Sequence[SendResult]) -> list[str]:
    return [
        integers([one.message for one in results]),
        texts([one.status for one in results]),
        timestamps([one.at for one in results]),
        texts([storable(one.provider_message_id) or None for one in results]),
        texts([storable(one.error_code)[:LONGEST_CODE] or None for one in results]),
        texts([storable(one.error_message)[:LONGEST_ERROR] or None for one in results]),
    ]


BATCH: Final = 500
RESTORED: Final = "database_restored"
SENTENCE: Final = "The system was restored to an earlier moment. This message may have been sent before."
WORKSPACE_RESTORED: Final = "workspace.restored_from_backup"
NOTIFICATION_KINDS: Final = (
    NotificationKind(
        name=WORKSPACE_RESTORED,
        label=_("System restored from a backup"),
        text=_(
            "The system was restored to an earlier time. Messages that were due then may already have been sent, so "
            "they are not sent again. Look at the failed messages."
        ),
        url_name="app:inbox",
        audience=Audience.WORKSPACE,
    ),
)
# A leased message becomes unknown by itself once its run is found dead.
WAITING: Final = """
SELECT message_id, workspace_id FROM conversations_queuedmessage
WHERE run IS NULL AND NOT is_unknown ORDER BY message_id LIMIT %s FOR UPDATE
"""


def fail_queued_messages(*, restore: str, now: datetime) -> int:
    """Fail all queued messages and notify each workspace once for this `restore`. Return the number of messages."""
    number = 0
    while failed := _fail_batch(restore, now):
        number += failed
    return number


@transaction.atomic
def _fail_batch(restore: str, now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [BATCH])
        waiting: list[tuple[int, int]] = cursor.fetchall()
    if not waiting:
        return 0
    failed = [
        SendResult(message=pk, status="failed", at=now, error_code=RESTORED, error_message=SENTENCE)
        for pk, _workspace in waiting
    ]
    record_send_results(failed, now=now)
    workspaces = Workspace.objects.filter(pk__in={workspace for _message, workspace in waiting}).order_by("pk")
    told = [NewNotificationEvent(tenant=tenant_of(one), key=f"{one.uuid}:{restore}") for one in workspaces]
    record_notifications(WORKSPACE_RESTORED, told, now=now, lasts=False)
    return len(waiting)
