"""Fails queued messages after a restore from a backup, because they may have been sent before."""

from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext_lazy as _

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import NewNotificationEvent, record_notifications
from agency.tenants import Audience
from workspaces.conversations.services.outbound.sending import SendResult, record_send_results
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import tenant_of

BATCH: Final = 500
RESTORED: Final = "database_restored"
SENTENCE: Final = "The system was restored to an earlier moment. This message may have been sent before."
WORKSPACE_RESTORED: Final = "workspace.restored_from_backup"
KINDS: Final = (
    NotificationKind(
        name=WORKSPACE_RESTORED,
        label=_("System restored from a backup"),
        text=_(
            "The system was restored to an earlier moment. Messages that were to be sent then may have been sent "
            "before, and are not sent again: look at those that failed."
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
