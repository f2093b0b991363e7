"""Registers the app's event types, metrics, menu entry, retention rules and handlers of contacts, members and files."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from agency.event_types import EventType, event_types
from agency.notification_kinds import notification_kinds
from agency.pages.charts import ChartSource, chart_sources, counted_series
from agency.pages.registry import ActivityAction, MenuEntry, activity_actions, dashboard_menu
from agency.pages.search import support_panels
from agency.services.activity import RecordedAction, recorded_actions
from agency.services.hourly_counts import hourly_counters
from config.metrics import METRICS
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention import retention_rules
from workspaces.contacts.services import contact_lock_handlers, contact_merge_handlers, contact_removal_handlers
from workspaces.conversations import metrics
from workspaces.conversations.api.serializers import ConversationSerializer, MessageSerializer, NoteSerializer
from workspaces.conversations.pages.support import PANELS as SUPPORT_PANELS
from workspaces.conversations.services import recording
from workspaces.conversations.services.contacts.merging import MERGE_HANDLER
from workspaces.conversations.services.contacts.removing import REMOVAL_HANDLER
from workspaces.conversations.services.hourly_counts import MESSAGES, RECEIVED
from workspaces.conversations.services.hourly_counts import SENT as MESSAGES_SENT
from workspaces.conversations.services.locking import LOCK_HANDLER
from workspaces.conversations.services.media_use import MEDIA_USE
from workspaces.conversations.services.outbound.recovery import KINDS
from workspaces.conversations.services.recorded_fields import FIELDS as RECORDED_FIELDS
from workspaces.conversations.services.retention import RULES
from workspaces.conversations.services.team_inbox.changing import MEMBER_REMOVAL_HANDLER
from workspaces.media.services import media_uses
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.services import member_removal_handlers

# The largest file that a network accepts, except documents, which can be larger and go through the API.
MOST_FILE_BYTES = 16 * MIB
SENT = {"direction": "out", "sent_by": {"kind": "workspace_key", "label": "Shop"}}


def _conversation(name: str, label: str, **beside: Any) -> EventType:
    return workspace_event_type(
        name, label, group="Conversations", resource="conversation", serializer=ConversationSerializer, **beside
    )


def _message(name: str, label: str, **sample: Any) -> EventType:
    return workspace_event_type(
        name, label, group="Messages", resource="message", serializer=MessageSerializer, sample=sample
    )


event_types.add(
    _conversation(recording.OPENED, "Conversation opened"),
    _conversation(recording.ASSIGNED, "Conversation assigned"),
    _conversation(recording.CLOSED, "Conversation closed"),
    _conversation(recording.REOPENED, "Conversation reopened"),
    _conversation(recording.NOTE_ADDED, "Note added", note=NoteSerializer()),
    _message(recording.RECEIVED, "Message received", status="received"),
    *(
        _message(topic, f"Message {status}", status=status, **SENT)
        for status, topic in recording.MESSAGE_TOPICS.items()
    ),
)
notification_kinds.add(*KINDS)
hourly_counters.add(MESSAGES)
chart_sources.add(
    ChartSource(
        name="messages",
        label=_("Messages"),
        order=30,
        url_name="console:sub-accounts",
        series=counted_series((RECEIVED, _("received"), "plain"), (MESSAGES_SENT, _("sent"), "good")),
    )
)
dashboard_menu.add(MenuEntry(url_name="app:inbox", label=_("Inbox"), icon="inbox", order=11))
body_rules.add(BodyRule("/app/inbox/", most_bytes=MOST_FILE_BYTES + MIB, signed_in=True))
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(
    *ActivityAction.from_labels(
        {
            "conversations.opt_out_words_changed": _("Opt-out words changed"),
            "saved_reply.created": _("Saved reply created"),
            "saved_reply.changed": _("Saved reply edited"),
            "saved_reply.deleted": _("Saved reply deleted"),
        }
    )
)
contact_lock_handlers.add(LOCK_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
contact_removal_handlers.add(REMOVAL_HANDLER)
member_removal_handlers.add(MEMBER_REMOVAL_HANDLER)
media_uses.add(MEDIA_USE)
retention_rules.add(*RULES)
METRICS.add(*metrics.METRICS)
support_panels.add(*SUPPORT_PANELS)
