"""Registers channel connect with the other apps: events, menu, labels, fact handlers, message sources, checks."""

from django.utils.translation import gettext_lazy as _

from agency.event_types import EventType, event_types
from agency.models import Agency
from agency.pages.registry import ActivityAction, MenuEntry, Section, activity_actions, console_menu
from agency.pages.search import support_panels
from agency.services.activity import RecordedAction, recorded_actions
from channelconnect import events, metrics
from channelconnect.api.agency.serializers import ConnectionSerializer
from channelconnect.api.workspace.serializers import TemplateSerializer
from channelconnect.inbox import FactHandler, fact_handlers
from channelconnect.models import ConnectSettings
from channelconnect.pages.hub import CONCERNS as HUB_CONCERNS
from channelconnect.pages.hub import PANELS as HUB_PANELS
from channelconnect.pages.support import PANELS as SUPPORT_PANELS
from channelconnect.providers.messages.errors import known_sentence
from channelconnect.providers.notices import AccountLost, LimitChanged, QualityChanged, TemplateChanged
from channelconnect.sending.claiming.allowance import used_people
from channelconnect.sending.conversations.read_marks import ReadMarks
from channelconnect.sending.conversations.source import ConversationMessages
from channelconnect.sending.sources import message_sources
from channelconnect.services import release_access
from channelconnect.services.accounts import change_limits, change_qualities, lose_accounts
from channelconnect.services.recorded_fields import FIELDS as RECORDED_FIELDS
from channelconnect.services.retention import RULES
from channelconnect.services.sessions.moving import CONNECTIONS
from channelconnect.services.templates import (
    check_template,
    choices_of_channel,
    has_approved_template,
    is_marketing_template,
    sync_changed,
)
from channelconnect.services.templates.syncing import APPROVED, PAUSED, REJECTED
from channelconnect.services.unwilling import keep_unwilling
from config.metrics import METRICS
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention import retention_rules
from workspaces.automations.services import RequirementCheck, requirement_checks
from workspaces.conversations import facts
from workspaces.conversations.services import TemplateCheck, inbound, template_checks
from workspaces.conversations.services.content import TemplateSource, template_sources
from workspaces.conversations.services.threads import ErrorExplainer, error_explainers
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.models.channels import AllowanceSource, allowance_sources
from workspaces.subaccounts.pages.registry import hub_concern_sources, hub_panels
from workspaces.subaccounts.services import DisconnectionHandler, disconnection_handlers
from workspaces.subaccounts.services.workspaces import move_handlers

# A batch of a thousand updates stays far below 4 MiB. A callback without a signature is refused before its body is
# read.
body_rules.add(
    BodyRule("/connect/provider-events", most_bytes=4 * MIB, headers=(b"x-hub-signature-256",), view_refuses=True)
)

ACTIONS = {
    "connect.turned_on": _("Channel connect switched on"),
    "connect.turned_off": _("Channel connect switched off"),
    "connect.return_urls_changed": _("Return URLs changed"),
    "connect.started": _("Channel connection started"),
    "connect.connected": _("Channel connection completed"),
    "connect.failed": _("Channel connection failed"),
    "connect.cancelled": _("Channel connection cancelled"),
    "connect.expired": _("Channel connection expired"),
    "channel.lost": _("Channel lost at the provider"),
}


def _may_connect(agency: Agency) -> bool:
    return ConnectSettings.objects.filter(agency=agency, enabled=True).exists()


def _ending(name: str, label: str, **sample: str) -> EventType:
    """Declare an event that carries the connection in the API's form."""
    return EventType(
        name=name,
        label=label,
        group="Channel connections",
        serializer=ConnectionSerializer,
        sample={"id": "e2a94c1d-7b06-4d5f-8a3c-91f0b6d2c7e8", **sample},
        is_open_to=_may_connect,
    )


def _template(name: str, label: str, status: str) -> EventType:
    return workspace_event_type(
        name,
        label,
        group="Message templates",
        resource="template",
        serializer=TemplateSerializer,
        sample={"status": status},
    )


METRICS.add(*metrics.METRICS)
event_types.add(
    _ending(
        events.COMPLETED,
        "Channel connection completed",
        status="connected",
        channel_id="0c6b1f7a-3f57-4b7e-9d5b-7a2b8d1e4c33",
    ),
    _ending(events.FAILED, "Channel connection failed", status="failed", error_code="no_eligible_accounts"),
    _ending(
        events.CANCELLED, "Channel connection cancelled", status="cancelled", error_code="authorization_not_completed"
    ),
    _ending(events.EXPIRED, "Channel connection expired", status="expired", error_code="session_expired"),
)
event_types.add(
    _template(APPROVED, "Template approved", "approved"),
    _template(REJECTED, "Template rejected", "rejected"),
    _template(PAUSED, "Template paused", "paused"),
)
console_menu.add(
    MenuEntry(
        url_name="console:channel-connect",
        label=_("Channel connect"),
        icon="plug",
        section=Section.CONFIGURATION,
        order=30,
    )
)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS))
retention_rules.add(*RULES)
disconnection_handlers.add(DisconnectionHandler(name="channelconnect.access", release=release_access))
# Handlers run in this order: a person's identity before their messages, a message before its changes, and all messages
# before the marks of how far they were read.
fact_handlers.add(
    FactHandler(facts.IdentityChanged, inbound.change_identities, inbound.lock_channels),
    FactHandler(facts.MessageReceived, inbound.receive_messages, inbound.lock_channels),
    FactHandler(facts.EchoReceived, inbound.record_echoes, inbound.lock_channels),
    FactHandler(facts.MessageEdited, inbound.edit_messages, inbound.lock_channels),
    FactHandler(facts.MessageRemoved, inbound.remove_messages, inbound.lock_channels),
    FactHandler(facts.ReactionChanged, inbound.change_reactions, inbound.lock_channels),
    FactHandler(facts.ConversationTouched, inbound.open_windows, inbound.lock_channels),
    FactHandler(facts.MarketingPreferenceChanged, inbound.change_marketing_preferences, inbound.lock_channels),
    FactHandler(facts.StatusChanged, inbound.apply_statuses, inbound.lock_channels),
    FactHandler(facts.StatusChanged, keep_unwilling, inbound.lock_channels, owner="channelconnect"),
    FactHandler(facts.ReadUpTo, inbound.apply_read_watermarks, inbound.lock_channels),
    FactHandler(AccountLost, lose_accounts),
    FactHandler(QualityChanged, change_qualities),
    FactHandler(LimitChanged, change_limits),
    FactHandler(TemplateChanged, sync_changed),
)
message_sources.add(ConversationMessages())
message_sources.add(ReadMarks())
allowance_sources.add(AllowanceSource("channelconnect.allowance", used_people))
template_checks.add(
    TemplateCheck(name="channelconnect.templates", check=check_template, is_marketing=is_marketing_template)
)
requirement_checks.add(RequirementCheck(name="template", is_met=has_approved_template))
error_explainers.add(ErrorExplainer("channelconnect.errors", known_sentence))
template_sources.add(TemplateSource(name="channelconnect.templates", choices=choices_of_channel))
move_handlers.add(CONNECTIONS)
support_panels.add(*SUPPORT_PANELS)
hub_panels.add(*HUB_PANELS)
hub_concern_sources.add(*HUB_CONCERNS)
