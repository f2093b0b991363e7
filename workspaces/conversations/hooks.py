"""Registers the app's event types, metrics, charts, panels, menu entry, retention rules and handlers."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import EventType, event_types
from agency.models import Agency
from agency.notification_kinds import notification_kinds
from agency.pages.charts import ChartSource, chart_sources, counted_series
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    activity_actions,
    activity_details,
    dashboard_menu,
)
from agency.pages.search import SupportPanel, SupportRow, support_panels
from agency.services.activity import RecordedAction, RecordedField, recorded_actions
from agency.services.hourly_counts import CountedHours, HourlyCounter, hourly_counters
from agency.services.notifications.pushing import push_sources
from config.metrics import METRICS, Counter
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention import retention_rules
from workspaces.contacts.pages import TimelineSource, timeline_sources
from workspaces.contacts.services import contact_lock_handlers, contact_merge_handlers, contact_removal_handlers
from workspaces.conversations.dashboard.panels import CONVERSATIONS, UNANSWERED, messages_of_timeline
from workspaces.conversations.models import QueuedMessage
from workspaces.conversations.serializers import ConversationSerializer, MessageSerializer, NoteSerializer
from workspaces.conversations.services import conversations
from workspaces.conversations.services.alerts import ALERT_HANDLER, ALERT_SOURCE, NOTIFICATION_KIND
from workspaces.conversations.services.changing import MEMBER_REMOVAL_HANDLER
from workspaces.conversations.services.conversations import LOCK_HANDLER
from workspaces.conversations.services.registries import received_message_handlers
from workspaces.conversations.services.removal import MEDIA_USE, MERGE_HANDLER, REMOVAL_HANDLER, RETENTION_RULES
from workspaces.conversations.services.send_results import NOTIFICATION_KINDS
from workspaces.conversations.services.threads import unread_conversations
from workspaces.media.services import media_uses
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.pages.home import home_sections
from workspaces.subaccounts.pages.menu import MenuCount, menu_counts
from workspaces.subaccounts.pages.search import dashboard_search_sources
from workspaces.subaccounts.services import member_removal_handlers

STATUS_CONFLICTS = Counter(
    "message_status_conflicts_total",
    "Statuses that contradict how a message has ended: failed after delivered, or the reverse.",
)
MESSAGE_METRICS = (STATUS_CONFLICTS,)


# A message that is due for so long is not just waiting for its turn.
LATE: Final = timedelta(minutes=5)


def late_messages(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the messages that wait too long for another attempt or a provider's status, earliest due time first."""
    late = QueuedMessage.objects.filter(is_ready=False, due_at__lt=timezone.now() - LATE, agency_id=agency.pk)
    # Each kind has its own index.
    kinds = (late.filter(is_automated=one).order_by("due_at")[:most] for one in (False, True))
    for queued in sorted((row for rows in kinds for row in rows), key=lambda row: row.due_at)[:most]:
        state = "its outcome is unknown" if queued.is_unknown else "waits for another attempt"
        yield SupportRow(
            title=f"Message {queued.pk}",
            detail=f"{state} · due {queued.due_at:%Y-%m-%d %H:%M UTC} · {queued.tries} tries",
            url=reverse("admin:conversations_message_change", args=[queued.pk]),
            is_problem=True,
        )


SUPPORT_PANELS: Final = (
    SupportPanel(
        name="late-messages",
        label="Messages that should have left",
        order=16,
        permission="conversations.view_message",
        rows=late_messages,
    ),
)


MESSAGES_RECEIVED: Final = "messages_received"
MESSAGES_SENT: Final = "messages_sent"
NEWEST_MESSAGE = "SELECT coalesce(max(id), 0) FROM conversations_message"
# `id > after` limits the scan, because no index has `created_at`.
COUNT_MESSAGES = """
SELECT workspace.agency_id, CASE message.direction WHEN 'in' THEN 'messages_received' ELSE 'messages_sent' END,
    date_trunc('hour', message.created_at, 'UTC') AS hour, count(*)
FROM conversations_message AS message JOIN subaccounts_workspace AS workspace ON workspace.id = message.workspace_id
WHERE message.id > %(after)s AND message.created_at >= %(first)s AND message.created_at < %(end)s
GROUP BY 1, 2, 3
"""


def count_messages(first: datetime, end: datetime, after: int) -> CountedHours:
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_MESSAGE)
        [newest] = cursor.fetchone()
        cursor.execute(COUNT_MESSAGES, {"first": first, "end": end, "after": after})
        return CountedHours(cursor.fetchall(), newest)


MESSAGE_COUNTER = HourlyCounter("messages", count_messages)


RECORDED_FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "conversations.opt_out_words_changed": (RecordedField("opt_out_words", _("Words that opt out")),),
    "saved_reply.changed": (RecordedField("name", _("Name")), RecordedField("text", _("Text"), hidden=True)),
}


# The largest file that a network accepts, except documents, which can be larger and go through the API.
MOST_FILE_BYTES = 16 * MIB
SENT = {"direction": "out", "sent_by": {"kind": "workspace_key", "label": "Shop"}}


MESSAGE_LABELS = {
    "sent": gettext_noop("Message sent"),
    "delivered": gettext_noop("Message delivered"),
    "read": gettext_noop("Message read"),
    "failed": gettext_noop("Message failed"),
}


def _conversation(name: str, label: str, **beside: Any) -> EventType:
    return workspace_event_type(
        name, label, group="Conversations", resource="conversation", serializer=ConversationSerializer, **beside
    )


def _message(name: str, label: str, **sample: object) -> EventType:
    return workspace_event_type(
        name, label, group="Messages", resource="message", serializer=MessageSerializer, sample=sample
    )


event_types.add(
    _conversation(conversations.OPENED, gettext_noop("Conversation opened")),
    _conversation(conversations.ASSIGNED, gettext_noop("Conversation assigned")),
    _conversation(conversations.CLOSED, gettext_noop("Conversation closed")),
    _conversation(conversations.REOPENED, gettext_noop("Conversation reopened")),
    _conversation(conversations.NOTE_ADDED, gettext_noop("Note added"), note=NoteSerializer()),
    _message(conversations.RECEIVED, gettext_noop("Message received"), status="received"),
    *(
        _message(topic, MESSAGE_LABELS[status], status=status, **SENT)
        for status, topic in conversations.MESSAGE_TOPICS.items()
    ),
)
notification_kinds.add(*NOTIFICATION_KINDS, NOTIFICATION_KIND)
push_sources.add(ALERT_SOURCE)
received_message_handlers.add(ALERT_HANDLER)
hourly_counters.add(MESSAGE_COUNTER)
chart_sources.add(
    ChartSource(
        name="messages",
        label=_("Messages"),
        order=30,
        url_name="console:sub-accounts",
        series=counted_series((MESSAGES_RECEIVED, _("received"), "plain"), (MESSAGES_SENT, _("sent"), "good")),
    )
)
home_sections.add(UNANSWERED)
dashboard_search_sources.add(CONVERSATIONS)
dashboard_menu.add(MenuEntry(url_name="app:inbox", label=_("Inbox"), icon="inbox", order=11, is_counted=True))
menu_counts.add(MenuCount(url_name="app:inbox", rows=unread_conversations))
body_rules.add(BodyRule("/app/inbox/", most_bytes=MOST_FILE_BYTES + MIB, signed_in=True))
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(
    *ActivityAction.from_labels(
        {
            "conversations.opt_out_words_changed": _("Opt-out words changed"),
            "saved_reply.created": _("Saved reply created"),
            "saved_reply.changed": _("Saved reply edited"),
            "saved_reply.deleted": _("Saved reply deleted"),
        },
        _("Conversations"),
    )
)
activity_details.add(ActivityDetail("saved_reply", _("Saved reply")))
timeline_sources.add(TimelineSource(name="conversations", entries=messages_of_timeline))
contact_lock_handlers.add(LOCK_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
contact_removal_handlers.add(REMOVAL_HANDLER)
member_removal_handlers.add(MEMBER_REMOVAL_HANDLER)
media_uses.add(MEDIA_USE)
retention_rules.add(*RETENTION_RULES)
METRICS.add(*MESSAGE_METRICS)
support_panels.add(*SUPPORT_PANELS)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="inbox",
        title=_("Inbox"),
        summary=_("Answer your customers on all channels in one place."),
        picture=_(
            "A conversation with its buttons at the top, a question, its reply, and the field for the next reply."
        ),
        order=20,
        pages=("inbox",),
        related=("saved-replies", "contacts", "automations"),
    ),
    Guide(
        area=DASHBOARD,
        slug="saved-replies",
        title=_("Saved replies"),
        summary=_("Write an answer once, and insert it whenever you need it."),
        picture=_("The field for a reply, in which a slash was typed. Above it two saved replies are offered."),
        order=30,
        pages=("saved-replies", "saved-reply-new", "saved-reply", "saved-reply-delete"),
        related=("inbox",),
    ),
)
