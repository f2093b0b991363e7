"""Alerts on people's devices about messages that wait for an answer: one for each conversation at a time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import NotificationEvent, QueuedPush
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import NotificationKind
from agency.services.notifications.delivery import current_delivery_method
from agency.services.notifications.push_queue import APART, MOST_WAITING
from agency.services.notifications.pushing import PushContent, PushSource
from agency.tenants import Audience
from config.db import database_now
from config.redis import RedisUnavailable, call_redis
from workspaces.conversations.models import Conversation
from workspaces.conversations.services.registries import IncomingMessage, ReceivedMessageHandler

KIND: Final = "conversation.waiting"
# Who has the inbox open marks the conversation as read meanwhile.
WAIT: Final = timedelta(seconds=5)
# Further messages of a conversation are told together after this time.
QUIET: Final = timedelta(minutes=2)
# While somebody looks at the inbox, their devices stay quiet. An open page says so every 20 seconds.
LOOKS_SECONDS: Final = 45
LOOK_AGAIN: Final = timedelta(seconds=30)
# Later for older alerts: who has had the inbox open for long may keep many waiting.
LOOK_AGAIN_AT_LAST: Final = timedelta(minutes=5)

NOTIFICATION_KIND: Final = NotificationKind(
    name=KIND,
    label=gettext_lazy("New messages, on devices with alerts"),
    text=gettext_lazy("New message"),
    url_name="app:inbox",
    audience=Audience.WORKSPACE,
    usual=DeliveryMethod.CONSOLE,
    is_only_pushed=True,
)

# One statement for a batch of messages. A device of an agency's host shows nothing of other agencies, and one for which
# too many alerts wait gets no more. The devices are held until the transaction ends; one that is being deleted is left
# out, so that messages never wait or fail because of it.
QUEUE: Final = """
WITH told AS MATERIALIZED (
    SELECT conversation.id AS conversation, conversation.uuid, workspace.agency_id, person.id AS user_id
    FROM conversations_conversation AS conversation
    JOIN subaccounts_workspace AS workspace ON workspace.id = conversation.workspace_id
    CROSS JOIN LATERAL (
        SELECT workspace.owner_id AS id WHERE workspace.owner_pending_since IS NULL
        UNION SELECT user_id FROM subaccounts_workspacemember WHERE workspace_id = workspace.id
    ) AS person
    WHERE conversation.id = ANY (%(conversations)s) AND conversation.status = 'open' AND conversation.unread_count > 0
), device AS MATERIALIZED (
    SELECT id, user_id, agency_id, service FROM agency_pushsubscription
    WHERE user_id = ANY (ARRAY (SELECT user_id FROM told)) ORDER BY id FOR KEY SHARE SKIP LOCKED
)
INSERT INTO agency_queuedpush AS push (subscription_id, service, topic, kind, object_id, created_at, due_at)
SELECT wanted.device, wanted.service, 'c' || wanted.conversation, %(kind)s, wanted.uuid, statement_timestamp(),
    statement_timestamp() + make_interval(secs => %(wait)s + %(apart)s * wanted.place)
FROM (
    SELECT device.id AS device, device.service, told.conversation, told.uuid,
        waiting.number + row_number() OVER (PARTITION BY device.id ORDER BY told.conversation) - 1 AS place
    FROM told
    JOIN device ON device.user_id = told.user_id
        AND (device.agency_id IS NULL OR device.agency_id = told.agency_id)
    CROSS JOIN LATERAL (
        SELECT count(*) AS number FROM (
            SELECT FROM agency_queuedpush AS other
            WHERE other.subscription_id = device.id AND other.sent_at IS NULL LIMIT %(most)s
        ) AS first
    ) AS waiting
) AS wanted
WHERE wanted.place < %(most)s
ORDER BY wanted.device, wanted.conversation
ON CONFLICT (subscription_id, topic) DO UPDATE SET again = true, created_at = EXCLUDED.created_at
    WHERE push.sent_at IS NOT NULL AND NOT push.again
"""


def queue_alerts(messages: Sequence[IncomingMessage], now: datetime) -> None:
    """Queue alerts about the conversations of new messages, in their transaction."""
    waiting = sorted({one.conversation_id for one in messages if not one.opts_out})
    if waiting:
        with connection.cursor() as cursor:
            seconds = {"wait": WAIT.total_seconds(), "apart": APART.total_seconds()}
            cursor.execute(QUEUE, {"kind": KIND, "most": MOST_WAITING, "conversations": waiting, **seconds})


def _write(push: QueuedPush) -> PushContent | timedelta | None:
    """Name who wrote, if the person may see the conversation, wants to be told, and nobody has read it."""
    rows = Conversation.objects.filter(uuid=push.object_id, status=Conversation.Status.OPEN, unread_count__gt=0)
    conversation = rows.select_related("contact", "workspace__agency").first()
    if conversation is None or not _wants(push, conversation):
        return None
    workspace = conversation.workspace
    if _looks_at_inbox(workspace.pk, push.subscription.user_id):
        return min(max(LOOK_AGAIN, database_now() - push.created_at), LOOK_AGAIN_AT_LAST)
    text = _("New message · %(workspace)s") % {"workspace": workspace.name}
    name = conversation.contact.name or _("A customer")
    path = reverse("app:conversation", args=[conversation.uuid])
    return PushContent(name, text, path, workspace.agency, is_urgent=True)


def _wants(push: QueuedPush, conversation: Conversation) -> bool:
    workspace, user_id = conversation.workspace, push.subscription.user_id
    about = NotificationEvent(
        agency=workspace.agency, workspace_id=workspace.pk, workspace_uuid=workspace.uuid, kind=KIND
    )
    if push.subscription.agency_id not in {None, workspace.agency_id}:
        return False
    return current_delivery_method(about, NOTIFICATION_KIND, user_id) not in {None, DeliveryMethod.OFF}


def record_look_at_inbox(workspace_id: int, user_id: int) -> None:
    """Keep a person's devices quiet for a while, because they have the inbox before them."""
    name = _look(workspace_id, user_id)
    try:
        call_redis(lambda redis: redis.set(name, 1, ex=LOOKS_SECONDS))
    except RedisUnavailable:
        return


def _looks_at_inbox(workspace_id: int, user_id: int) -> bool:
    name = _look(workspace_id, user_id)
    try:
        return bool(call_redis(lambda redis: redis.exists(name)))
    except RedisUnavailable:
        return False


def _look(workspace_id: int, user_id: int) -> str:
    return f"inbox-look:{workspace_id}:{user_id}"


ALERT_HANDLER: Final = ReceivedMessageHandler("conversations.alerts", queue_alerts)
ALERT_SOURCE: Final = PushSource(KIND, _write, quiet=QUIET)
