"""Registers broadcasts with the other apps: events, menus, plan usage, segments, files, contacts, sending, statuses."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import EventType, event_types
from agency.notification_kinds import notification_kinds
from agency.pages.charts import ChartSource, chart_sources, counted_series
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    activity_actions,
    activity_details,
    console_menu,
    dashboard_menu,
)
from agency.pages.search import support_panels
from agency.services.activity import RecordedAction, recorded_actions
from agency.services.exports import export_sources
from agency.services.hourly_counts import hourly_counters
from agency.services.notifications.recording import StateCheck, state_checks
from broadcasts import events
from broadcasts.api.serializers import BroadcastReferenceSerializer, BroadcastSerializer, RecipientSerializer
from broadcasts.console import BROADCASTS
from broadcasts.dashboard.broadcasts import message_steps
from broadcasts.dashboard.panels import BROADCASTS as FOUND_BROADCASTS
from broadcasts.dashboard.panels import NEXT_BROADCASTS, SEND_TO_SEGMENT, broadcasts_of_timeline
from broadcasts.dashboard.recipients import broadcasts_of_contact
from broadcasts.models.recipients import CALLBACK_DATA_PREFIX
from broadcasts.pages.panels import CONCERNS as HUB_CONCERNS
from broadcasts.pages.panels import HUB_PANELS, SUPPORT_PANELS
from broadcasts.public import TRACKED_LINKS
from broadcasts.sending.source import BroadcastRecipients
from broadcasts.services import statuses
from broadcasts.services.contact_changes import LOCK_HANDLER, MERGE_HANDLER, REMOVAL_HANDLER
from broadcasts.services.counts import BEGUN, BEGUN_BROADCASTS, used_broadcasts
from broadcasts.services.fields import FIELDS as RECORDED_FIELDS
from broadcasts.services.fields import MEDIA_USE, SEGMENT_USE
from broadcasts.services.notifications import KINDS as NOTIFICATION_KINDS
from broadcasts.services.notifications import check_held_broadcasts
from broadcasts.services.threads import THREAD_SOURCE
from channelconnect.inbox.reading import FactHandler, fact_handlers
from channelconnect.sending.sources import message_sources
from config.event_loop_responses import event_loop_routes
from config.metrics import METRICS, Counter
from workspaces.contacts.pages import ContactPanel, TimelineSource, contact_panels, segment_actions, timeline_sources
from workspaces.contacts.services import (
    contact_lock_handlers,
    contact_merge_handlers,
    contact_removal_handlers,
    segment_uses,
)
from workspaces.conversations import facts
from workspaces.conversations.services.threads import thread_sources
from workspaces.media.services import media_uses
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.pages.home import home_sections
from workspaces.subaccounts.pages.registry import SetUpSource, hub_concern_sources, hub_panels, set_up_sources
from workspaces.subaccounts.pages.search import dashboard_search_sources
from workspaces.subaccounts.services import UsageSource, usage_sources

ACTIONS = {
    events.CREATED: _("Broadcast created"),
    events.UPDATED: _("Broadcast changed"),
    events.DELETED: _("Broadcast deleted"),
    events.SCHEDULED: _("Broadcast scheduled"),
    events.APPROVED: _("Broadcast approved"),
    events.STARTED: _("Broadcast started"),
    events.PAUSED: _("Broadcast paused"),
    events.RESUMED: _("Broadcast resumed"),
    events.COMPLETED: _("Broadcast completed"),
    events.CANCELLED: _("Broadcast cancelled"),
    "broadcast.exported": _("Recipients of a broadcast exported"),
    "rates.imported": _("Rate card imported"),
}


def _broadcast(name: str, label: str, **sample: object) -> EventType:
    return workspace_event_type(
        name, label, group="Broadcasts", resource="broadcast", serializer=BroadcastSerializer, sample=sample
    )


def _recipient(name: str, label: str, **sample: object) -> EventType:
    return workspace_event_type(
        name,
        label,
        group="Broadcasts' recipients",
        resource="recipient",
        serializer=RecipientSerializer,
        sample=sample,
        broadcast=BroadcastReferenceSerializer(),
    )


event_types.add(
    _broadcast(events.CREATED, gettext_noop("Broadcast created"), status="Draft"),
    _broadcast(events.UPDATED, gettext_noop("Broadcast changed"), status="Draft"),
    _broadcast(events.DELETED, gettext_noop("Broadcast deleted"), status="Draft"),
    _broadcast(events.SCHEDULED, gettext_noop("Broadcast scheduled"), status="Scheduled"),
    _broadcast(events.APPROVED, gettext_noop("Broadcast approved"), status="Scheduled"),
    _broadcast(events.STARTED, gettext_noop("Broadcast started"), status="sending"),
    _broadcast(events.PAUSED, gettext_noop("Broadcast paused"), status="paused"),
    _broadcast(events.RESUMED, gettext_noop("Broadcast resumed"), status="sending"),
    _broadcast(events.COMPLETED, gettext_noop("Broadcast completed"), status="sent"),
    _broadcast(events.CANCELLED, gettext_noop("Broadcast cancelled"), status="cancelled"),
    _recipient(events.RECIPIENT_FAILED, gettext_noop("Broadcast not delivered"), status="failed"),
    _recipient(events.RECIPIENT_SKIPPED, gettext_noop("Broadcast not sent"), status="skipped", skip_reason="opted_out"),
    _recipient(events.LINK_CLICKED, gettext_noop("Link clicked"), status="read"),
)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, _("Broadcasts")))
activity_details.add(ActivityDetail("broadcast.reason", _("Reason"), are_messages=True))
notification_kinds.add(*NOTIFICATION_KINDS)
state_checks.add(StateCheck("held_broadcasts", check_held_broadcasts))
home_sections.add(NEXT_BROADCASTS)
dashboard_search_sources.add(FOUND_BROADCASTS)
dashboard_menu.add(
    MenuEntry(
        url_name="app:broadcasts", label=_("Broadcasts"), icon="broadcast", order=16, limit="broadcasts_per_month"
    )
)
console_menu.add(MenuEntry(url_name="console:broadcasts", label=_("Broadcasts"), icon="broadcast", order=15))
hourly_counters.add(BEGUN_BROADCASTS)
chart_sources.add(
    ChartSource(
        name="broadcasts",
        label=_("Broadcasts"),
        order=40,
        url_name="console:broadcasts",
        series=counted_series((BEGUN, _("begun"), "plain")),
    )
)
set_up_sources.add(SetUpSource(name="messages", order=30, steps=message_steps))
usage_sources.add(UsageSource("broadcasts", used_broadcasts))
thread_sources.add(THREAD_SOURCE)
segment_uses.add(SEGMENT_USE)
media_uses.add(MEDIA_USE)
segment_actions.add(SEND_TO_SEGMENT)
timeline_sources.add(TimelineSource(name="broadcasts", entries=broadcasts_of_timeline))
contact_lock_handlers.add(LOCK_HANDLER)
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
message_sources.add(BroadcastRecipients())
fact_handlers.add(
    FactHandler(facts.StatusChanged, statuses.record_statuses, owner="broadcasts", opaque=CALLBACK_DATA_PREFIX),
    FactHandler(facts.EchoReceived, statuses.record_echoes, owner="broadcasts", opaque=CALLBACK_DATA_PREFIX),
    FactHandler(facts.ReadUpTo, statuses.read_up_to, owner="broadcasts"),
)

export_sources.add(BROADCASTS)
event_loop_routes.add(TRACKED_LINKS)
support_panels.add(*SUPPORT_PANELS)
hub_panels.add(*HUB_PANELS)
hub_concern_sources.add(*HUB_CONCERNS)
METRICS.add(
    Counter(
        "recipient_statuses_missed_total",
        "Statuses of recipients that others were in the way of: their callback is read again.",
    )
)
contact_panels.add(
    ContactPanel(
        name="broadcasts",
        order=30,
        template="broadcasts/_contact_panel.html",
        inbox_template="broadcasts/_inbox_panel.html",
        content=broadcasts_of_contact,
    )
)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="broadcasts",
        title=_("Broadcasts"),
        summary=_("Send one message to many contacts."),
        picture=_("The first part of a broadcast: its name, its channel and its text."),
        order=60,
        pages=("broadcasts",),
        related=("contacts", "channels"),
    )
)
