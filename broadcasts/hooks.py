"""What broadcasts add elsewhere: topics of webhooks, usage of the plan, uses of segments and files, gone contacts."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from agency.event_types import EventType, event_types
from agency.pages.registry import MenuEntry, console_menu, dashboard_menu, label_actions
from broadcasts import events
from broadcasts.api.serializers import BroadcastReferenceSerializer, BroadcastSerializer, RecipientSerializer
from broadcasts.models.recipients import OPAQUE_PREFIX
from broadcasts.sending.source import BroadcastRecipients
from broadcasts.services import statuses
from broadcasts.services.contact_changes import MERGE_HANDLER, REMOVAL_HANDLER
from broadcasts.services.editing.uses import MEDIA_USE, SEGMENT_USE
from broadcasts.services.quota import used_broadcasts
from channelconnect.inbox import FactHandler, fact_handlers
from channelconnect.sending.sources import message_sources
from workspaces.contacts.services import contact_merge_handlers, contact_removal_handlers, segment_uses
from workspaces.conversations import facts
from workspaces.media.services import media_uses
from workspaces.subaccounts.event_types import workspace_event_type
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
    "rates.imported": _("Rate card imported"),
}


def _broadcast(name: str, label: str, **sample: Any) -> EventType:
    return workspace_event_type(
        name, label, group="Broadcasts", resource="broadcast", serializer=BroadcastSerializer, sample=sample
    )


def _recipient(name: str, label: str, **sample: Any) -> EventType:
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
    _broadcast(events.CREATED, "Broadcast created", status="Draft"),
    _broadcast(events.UPDATED, "Broadcast changed", status="Draft"),
    _broadcast(events.DELETED, "Broadcast deleted", status="Draft"),
    _broadcast(events.SCHEDULED, "Broadcast scheduled", status="Scheduled"),
    _broadcast(events.APPROVED, "Broadcast approved", status="Scheduled"),
    _broadcast(events.STARTED, "Broadcast started", status="sending"),
    _broadcast(events.PAUSED, "Broadcast paused", status="paused"),
    _broadcast(events.RESUMED, "Broadcast resumed", status="sending"),
    _broadcast(events.COMPLETED, "Broadcast completed", status="sent"),
    _broadcast(events.CANCELLED, "Broadcast cancelled", status="cancelled"),
    _recipient(events.RECIPIENT_FAILED, "Broadcast not delivered", status="failed"),
    _recipient(events.RECIPIENT_SKIPPED, "Broadcast not sent", status="skipped", skip_reason="opted_out"),
    _recipient(events.LINK_CLICKED, "Link clicked", status="read"),
)
label_actions(ACTIONS)
dashboard_menu.add(MenuEntry(url_name="app:broadcasts", label=_("Broadcasts"), icon="broadcast", order=16))
console_menu.add(MenuEntry(url_name="console:broadcasts", label=_("Broadcasts"), icon="broadcast", order=15))
usage_sources.add(UsageSource("broadcasts", used_broadcasts))
segment_uses.add(SEGMENT_USE)
media_uses.add(MEDIA_USE)
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
message_sources.add(BroadcastRecipients())
fact_handlers.add(
    FactHandler(facts.StatusChanged, statuses.record_statuses, owner="broadcasts", opaque=OPAQUE_PREFIX),
    FactHandler(facts.EchoReceived, statuses.record_echoes, owner="broadcasts", opaque=OPAQUE_PREFIX),
    FactHandler(facts.ReadUpTo, statuses.read_up_to, owner="broadcasts"),
)
