"""Registers channel connect with the other apps: events, menu, labels, fact handlers, message sources, metrics."""

from datetime import timedelta
from typing import Final

from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import EventType, event_types
from agency.models import Agency
from agency.pages.help import CONSOLE, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    console_menu,
)
from agency.pages.search import support_panels
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from channelconnect.api.agency import ConnectionSerializer
from channelconnect.api.workspace import TemplateSerializer
from channelconnect.dashboard import CONNECT_PAGE
from channelconnect.inbox.reading import FactHandler, fact_handlers
from channelconnect.models import ConnectSettings, ProviderNotice, SenderRun, Unsubscription, sessions
from channelconnect.models.channels import OPEN
from channelconnect.models.inbox import MOST_TRIES
from channelconnect.pages.panels import CHANNEL_NOTES, HUB_PANELS, SUPPORT_PANELS
from channelconnect.pages.panels import CONCERNS as HUB_CONCERNS
from channelconnect.providers.message_results import known_sentence
from channelconnect.providers.notices.events import (
    AccountAccessChanged,
    HistoryShared,
    LimitChanged,
    QualityChanged,
    TemplateChanged,
)
from channelconnect.sending.allowance import used_people
from channelconnect.sending.conversations import AutomatedMessages, ConversationMessages
from channelconnect.sending.read_marks import ReadMarks
from channelconnect.sending.sources import message_sources
from channelconnect.services.accounts import change_access, change_limits, change_qualities, record_marketing_opt_outs
from channelconnect.services.business_app import keep_listed_contacts, record_history_progress
from channelconnect.services.sessions.ending import CONNECTIONS
from channelconnect.services.settings import RULES
from channelconnect.services.subscriptions import release_access
from channelconnect.services.template_checks import check_template, has_approved_template, is_marketing_template
from channelconnect.services.templates import APPROVED, PAUSED, REJECTED, choices_of_channel, sync_changed
from config.leases.runs import LEASE_SECONDS
from config.metrics import METRICS, MOST_COUNTED, Counter, Gauge, Histogram, capped_count, oldest_seconds
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention import retention_rules
from workspaces.automations.services import RequirementCheck, requirement_checks
from workspaces.conversations import facts
from workspaces.conversations.models import QueuedMessage
from workspaces.conversations.services import TemplateCheck, inbound, template_checks
from workspaces.conversations.services.content import TemplateSource, template_sources
from workspaces.conversations.services.threads import ErrorExplainer, error_explainers
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.models.channels import AllowanceSource, allowance_sources
from workspaces.subaccounts.pages.connecting import channel_note_sources, connect_pages
from workspaces.subaccounts.pages.registry import hub_concern_sources, hub_panels
from workspaces.subaccounts.services import DisconnectionHandler, disconnection_handlers
from workspaces.subaccounts.services.workspaces import move_handlers

# Metrics count rows up to ten thousand.
# Each of these is counted by its index.
UNREAD = ProviderNotice.objects.filter(read_at=None)
NEW = UNREAD.filter(tries=0)
TO_READ_AGAIN = UNREAD.filter(tries__gt=0, tries__lt=MOST_TRIES)
KINDS_OF_MESSAGES = tuple(QueuedMessage.objects.filter(is_automated=one) for one in (False, True))
MESSAGES_DUE = tuple(kind.filter(is_ready=True) for kind in KINDS_OF_MESSAGES)
# No index has all of them in the order of time.
SOME_MESSAGES_DUE = tuple(QueuedMessage.objects.filter(pk__in=due.values("pk")[:MOST_COUNTED]) for due in MESSAGES_DUE)
MESSAGES_UNKNOWN = tuple(kind.filter(is_ready=False, is_unknown=True) for kind in KINDS_OF_MESSAGES)

CONNECT_METRICS = (
    Counter("callback_facts_total", "Facts that provider callbacks have told, by their types.", label="type"),
    Gauge(
        "callbacks_waiting",
        "Provider callbacks that were not read yet, counted up to 10,000.",
        read=lambda: min(MOST_COUNTED, capped_count(NEW) + capped_count(TO_READ_AGAIN)),
    ),
    Gauge(
        "callbacks_waiting_oldest_seconds",
        "Age of the oldest provider callback that was not read yet.",
        read=lambda: max(
            oldest_seconds(NEW, "received_at", order_by="id"),
            oldest_seconds(TO_READ_AGAIN, "received_at", order_by="tries"),
        ),
    ),
    Gauge(
        "callbacks_given_up",
        "Provider callbacks that broke their reader five times, counted up to 10,000.",
        read=lambda: capped_count(UNREAD.filter(tries__gte=MOST_TRIES)),
    ),
    Gauge(
        "unsubscriptions_retried",
        "Subscriptions that a provider did not take back at the first try, counted up to 10,000.",
        read=lambda: capped_count(Unsubscription.objects.filter(status__in=OPEN, tries__gt=0)),
    ),
    Gauge(
        "messages_due",
        "Messages that are due and that no sender has taken, counted up to 10,000.",
        read=lambda: min(MOST_COUNTED, sum(map(capped_count, MESSAGES_DUE))),
    ),
    Gauge(
        "messages_due_oldest_seconds",
        "For how long the longest due among the first 10,000 messages has waited for a sender.",
        read=lambda: max(oldest_seconds(some, "due_at") for some in SOME_MESSAGES_DUE),
    ),
    Gauge(
        "messages_unknown",
        "Messages of which it is not known whether the provider has sent them, counted up to 10,000.",
        read=lambda: min(MOST_COUNTED, sum(map(capped_count, MESSAGES_UNKNOWN))),
    ),
    Gauge(
        "sender_runs_alive",
        "Runs of senders that were seen within the last 20 seconds.",
        read=lambda: capped_count(SenderRun.objects.filter(seen_at__gt=Now() - timedelta(seconds=LEASE_SECONDS))),
    ),
    Counter("messages_sent_total", "Calls that senders have made for messages, by what followed.", label="result"),
    Counter("sender_brakes_total", "Stops that the provider has asked for, by whom they hold for.", label="scope"),
    Histogram("sender_claim_seconds", "How long the statements take that claim a batch of messages."),
    Histogram("sender_record_seconds", "How long the statements take that record a batch of results."),
)


FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "connect.return_urls_changed": (RecordedField("return_urls", _("Return URLs")),),
    "connect.customers_changed": (
        RecordedField("customers_connect", _("Customers may connect channels themselves"), ValueFormat.SWITCH),
    ),
    "connect.business_app_changed": (
        RecordedField(
            "allows_business_app", _("WhatsApp numbers may stay in the WhatsApp Business app"), ValueFormat.SWITCH
        ),
    ),
}


# A batch of a thousand updates stays far below 4 MiB. A callback without a signature is refused before its body is
# read.
body_rules.add(
    BodyRule("/connect/provider-events", most_bytes=4 * MIB, headers=(b"x-hub-signature-256",), view_refuses=True)
)

ACTIONS = {
    "connect.turned_on": _("Channel connect switched on"),
    "connect.turned_off": _("Channel connect switched off"),
    "connect.return_urls_changed": _("Return URLs changed"),
    "connect.customers_changed": _("Channel connect for customers changed"),
    "connect.business_app_changed": _("Use of the WhatsApp Business app changed"),
    "connect.started": _("Channel connection started"),
    "connect.connected": _("Channel connection completed"),
    "connect.failed": _("Channel connection failed"),
    "connect.cancelled": _("Channel connection cancelled"),
    "connect.expired": _("Channel connection expired"),
    "channel.lost": _("Channel disconnected by the provider"),
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


METRICS.add(*CONNECT_METRICS)
event_types.add(
    _ending(
        sessions.COMPLETED,
        gettext_noop("Channel connection completed"),
        status="connected",
        channel_id="0c6b1f7a-3f57-4b7e-9d5b-7a2b8d1e4c33",
    ),
    _ending(
        sessions.FAILED, gettext_noop("Channel connection failed"), status="failed", error_code="no_eligible_accounts"
    ),
    _ending(
        sessions.CANCELLED,
        gettext_noop("Channel connection cancelled"),
        status="cancelled",
        error_code="authorization_not_completed",
    ),
    _ending(
        sessions.EXPIRED, gettext_noop("Channel connection expired"), status="expired", error_code="session_expired"
    ),
)
event_types.add(
    _template(APPROVED, gettext_noop("Template approved"), "approved"),
    _template(REJECTED, gettext_noop("Template rejected"), "rejected"),
    _template(PAUSED, gettext_noop("Template paused"), "paused"),
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
connect_pages.add(CONNECT_PAGE)
channel_note_sources.add(CHANNEL_NOTES)
recorded_actions.add(*RecordedAction.from_fields(FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, _("Channel connect")))
activity_details.add(ActivityDetail("connect.error_code", _("Error")))
retention_rules.add(*RULES)
disconnection_handlers.add(DisconnectionHandler(name="channelconnect.access", release=release_access))
# Handlers run in this order: a person's identity before their messages, a message or comment before its changes, and
# all messages before the marks of how far they were read.
fact_handlers.add(
    FactHandler(facts.IdentityChanged, inbound.change_identities, inbound.lock_channels),
    FactHandler(facts.MessageReceived, inbound.receive_messages, inbound.lock_channels),
    FactHandler(facts.EchoReceived, inbound.record_echoes, inbound.lock_channels),
    FactHandler(facts.ContactListed, keep_listed_contacts, inbound.lock_channels, owner="channelconnect"),
    FactHandler(facts.PastMessage, inbound.record_past_messages, inbound.lock_channels),
    FactHandler(facts.MessageEdited, inbound.edit_messages, inbound.lock_channels),
    FactHandler(facts.MessageRemoved, inbound.remove_messages, inbound.lock_channels),
    FactHandler(facts.CommentReceived, inbound.receive_comments, inbound.lock_channels),
    FactHandler(facts.CommentEdited, inbound.edit_comments, inbound.lock_channels),
    FactHandler(facts.CommentRemoved, inbound.remove_comments, inbound.lock_channels),
    FactHandler(facts.ReactionChanged, inbound.change_reactions, inbound.lock_channels),
    FactHandler(facts.ConversationTouched, inbound.open_windows, inbound.lock_channels),
    FactHandler(facts.MarketingPreferenceChanged, inbound.change_marketing_preferences, inbound.lock_channels),
    FactHandler(facts.StatusChanged, inbound.apply_statuses, inbound.lock_channels),
    FactHandler(facts.StatusChanged, record_marketing_opt_outs, inbound.lock_channels, owner="channelconnect"),
    FactHandler(facts.ReadUpTo, inbound.apply_read_watermarks, inbound.lock_channels),
    FactHandler(AccountAccessChanged, change_access),
    FactHandler(HistoryShared, record_history_progress),
    FactHandler(QualityChanged, change_qualities),
    FactHandler(LimitChanged, change_limits),
    FactHandler(TemplateChanged, sync_changed),
)
message_sources.add(ConversationMessages(), AutomatedMessages())
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
guides.add(
    Guide(
        area=CONSOLE,
        slug="channel-connect",
        title=_("Channel connect"),
        summary=_("Customers connect their own WhatsApp, Messenger or Instagram."),
        picture=_("The form of a link with which a customer connects a channel."),
        order=50,
        pages=("channel-connect",),
        related=("sub-accounts", "api-keys"),
    )
)
