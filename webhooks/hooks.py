"""Registers webhooks with the other apps: menu, labels, panels, documented events, recorded fields, metrics."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Final

import orjson
from django.db.models import Exists, F
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from agency.event_types import EventType, declared_events
from agency.models import Agency, Event
from agency.notification_kinds import notification_kinds
from agency.pages.charts import ChartSource, chart_sources
from agency.pages.help import CONSOLE, DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    ActivityTarget,
    Alert,
    AlertSource,
    FirstStep,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    activity_targets,
    alert_sources,
    console_menu,
    dashboard_menu,
    first_steps,
)
from agency.pages.search import (
    ConsoleAction,
    SearchSource,
    console_actions,
    search_sources,
    support_panels,
    support_search_sources,
    support_start_panels,
)
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from agency.services.agencies import restoration_handlers
from agency.services.bulk import bulk_actions
from agency.services.events import SubscriptionSource, subscriber_checks
from agency.services.exports import export_sources
from agency.services.notifications.recording import state_checks
from agency.services.retention import EventReader, event_readers
from agency.tenants import Audience
from config.api.documents.building import DocumentedEvents, EventDescription, documented_events
from config.leases.runs import LEASE_SECONDS
from config.metrics import METRICS, MOST_COUNTED, Counter, Gauge, Histogram, capped_count, oldest_seconds
from config.retention import retention_rules
from webhooks.console import ACTIONS as BULK_ACTIONS
from webhooks.console import DELIVERIES
from webhooks.models import DispatcherRun, Endpoint, QueuedDelivery
from webhooks.pages.deliveries import concern_text
from webhooks.pages.panels import CONCERNS as HUB_CONCERNS
from webhooks.pages.panels import (
    HEALTH,
    HUB_PANELS,
    SUPPORT_FIND_SOURCES,
    SUPPORT_PANELS,
    SUPPORT_START_PANELS,
    ended_deliveries,
    found_deliveries,
    found_endpoints,
)
from webhooks.services.deliveries import sample_envelope
from webhooks.services.endpoint_health import KINDS as NOTIFICATION_KINDS
from webhooks.services.endpoint_health import STATE_CHECKS, needing_attention
from webhooks.services.endpoints import MOST_ENDPOINTS, has_subscribers, subscriptions
from webhooks.services.partitions import RULES, events_needed_since
from webhooks.services.queueing import MOVE_HANDLER, RESTORATION_HANDLER
from workspaces.subaccounts.pages.registry import hub_concern_sources, hub_panels
from workspaces.subaccounts.services.health import health_checks
from workspaces.subaccounts.services.workspaces import move_handlers

HEADERS = {
    "webhook-id": "The envelope's id, the same on every attempt and redelivery.",
    "webhook-timestamp": "Seconds since 1970 at which this attempt was signed.",
    "webhook-signature": "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, as Standard Webhooks defines it.",
    "X-Svc-Event": "The event's name.",
    "X-Svc-Delivery": "The envelope's id once more.",
    "X-Svc-Signature": "`sha256=` and the lower-case hex HMAC-SHA256 of the raw body, keyed by the endpoint's secret.",
}
TENANT = {
    Audience.AGENCY: {"agency_id": {"type": "integer"}},
    Audience.WORKSPACE: {"workspace_id": {"type": "string", "format": "uuid"}},
}


def describe(declared: EventType) -> EventDescription:
    """Return the description of one event, with a full sample."""
    return EventDescription(
        name=declared.name,
        summary=declared.label,
        tenant=TENANT[declared.audience],
        data=declared.serializer,
        example=orjson.loads(sample_envelope(declared.name)),
        headers=HEADERS,
    )


def events_of(audience: Audience) -> Callable[[], Iterator[EventDescription]]:
    """Return a function that yields the descriptions of an audience's events."""
    return lambda: (describe(declared) for declared in declared_events(audience))


# Metrics count rows up to ten thousand.
NEW_EVENTS = Event.objects.filter(fanned_out_at=None)
DUE = QueuedDelivery.objects.filter(is_ready=True, run=None)
# No index orders all of them by time.
SOME_DUE = QueuedDelivery.objects.filter(pk__in=DUE.values("pk")[:MOST_COUNTED])

WEBHOOK_METRICS = (
    Gauge(
        "events_waiting",
        "Events of which no deliveries were made yet, counted up to 10,000.",
        read=lambda: capped_count(NEW_EVENTS),
    ),
    Gauge(
        "events_waiting_oldest_seconds",
        "Age of the oldest event of which no deliveries were made yet.",
        read=lambda: oldest_seconds(NEW_EVENTS, "occurred_at", order_by=F("position") + 0),
    ),
    Gauge(
        "deliveries_due",
        "Deliveries that are due and that no dispatcher has taken, counted up to 10,000.",
        read=lambda: capped_count(DUE),
    ),
    Gauge(
        "deliveries_due_oldest_seconds",
        "For how long the longest due among the first 10,000 deliveries has waited for a dispatcher.",
        read=lambda: oldest_seconds(SOME_DUE, "due_at"),
    ),
    Gauge(
        "dispatcher_runs_alive",
        "Runs of dispatchers that were seen within the last 20 seconds.",
        read=lambda: capped_count(DispatcherRun.objects.filter(seen_at__gt=Now() - timedelta(seconds=LEASE_SECONDS))),
    ),
    Counter("webhook_attempts_total", "Attempts that dispatchers have made, by their outcome.", label="outcome"),
    Histogram("dispatcher_claim_seconds", "How long the statement takes that leases a batch of deliveries."),
    Histogram("dispatcher_fan_out_seconds", "How long the statement takes that makes deliveries of new events."),
    Histogram("dispatcher_record_seconds", "How long the statement takes that writes a batch of attempts down."),
)


FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "webhook.changed": (
        RecordedField("url", _("URL"), cut_at="?"),
        RecordedField("events", _("Events")),
        RecordedField("description", _("Description")),
        RecordedField("enabled", _("Enabled"), ValueFormat.SWITCH),
        RecordedField("retries", _("Retries")),
    )
}


ACTIONS = {
    "webhook.created": _("Webhook added"),
    "webhook.changed": _("Webhook edited"),
    "webhook.removed": _("Webhook removed"),
    "webhook.failures_dismissed": _("Webhook failures dismissed"),
    "webhook.secret_rotated": _("Webhook secret rotated"),
    "webhook.tested": _("Webhook tested"),
    "webhook.redelivered": _("Event redelivered"),
    "webhook.failed_redelivered": _("Failed events redelivered"),
    "webhook.replayed": _("Events redelivered"),
}


def _has_endpoint(agency: Agency) -> Exists:
    return Exists(Endpoint.objects.of(agency))


MOST_NAMED = 3
LONGEST_SHOWN = 100


def concerns(agency: Agency) -> Iterable[Alert]:
    """Yield endpoints that fail, or have failed deliveries that were neither sent again nor dismissed."""
    enabled = Endpoint.objects.of(agency).filter(enabled=True).order_by("id").defer("secret")[:MOST_ENDPOINTS]
    for endpoint, condition in needing_attention(enabled, MOST_NAMED):
        yield Alert(
            text=concern_text(condition, Truncator(endpoint.url).chars(LONGEST_SHOWN)),
            url=reverse("console:webhook", args=[endpoint.uuid]),
            action=_("Webhook"),
        )


METRICS.add(*WEBHOOK_METRICS)
alert_sources.add(AlertSource(name="webhooks", order=10, concerns=concerns))
subscriber_checks.add(SubscriptionSource("webhooks", has_subscribers, subscriptions))
documented_events.add(
    DocumentedEvents("agency events", "agency", events_of(Audience.AGENCY)),
    DocumentedEvents("workspace events", "workspace", events_of(Audience.WORKSPACE)),
)
console_menu.add(
    MenuEntry(url_name="console:webhooks", label=_("Webhooks"), icon="webhook", section=Section.CONFIGURATION, order=20)
)
chart_sources.add(
    ChartSource(
        name="deliveries", label=_("Deliveries"), order=20, url_name="console:webhooks", series=ended_deliveries
    )
)
console_actions.add(ConsoleAction(url_name="console:webhook-new", label=_("Add webhook"), order=60))
search_sources.add(
    SearchSource(name="webhooks", label=_("Webhooks"), order=30, find=found_endpoints),
    SearchSource(name="deliveries", label=_("Deliveries"), order=35, find=found_deliveries),
)
dashboard_menu.add(
    MenuEntry(url_name="app:webhooks", label=_("Webhooks"), icon="webhook", section=Section.SETTINGS, order=86)
)
first_steps.add(
    FirstStep(
        title=_("Add a webhook"),
        text=_("Your systems learn about new, changed and suspended sub-accounts within seconds."),
        url_name="console:webhook-new",
        action=_("Add webhook"),
        is_done=_has_endpoint,
        order=45,
    )
)
recorded_actions.add(*RecordedAction.from_fields(FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, _("Webhooks")))
activity_details.add(
    *ActivityDetail.from_labels(
        {
            "webhook.delivery": "",
            "webhook.event": _("Event"),
            "webhook.events": _("Events"),
            "webhook.number": _("Deliveries"),
            "webhook.since": _("Since"),
            "webhook.until": _("Until"),
            "webhook.url": "",
        }
    )
)
notification_kinds.add(*NOTIFICATION_KINDS)
state_checks.add(*STATE_CHECKS)
activity_targets.add(ActivityTarget("webhook", "console:webhook"))
event_readers.add(EventReader("deliveries", events_needed_since))
retention_rules.add(*RULES)
bulk_actions.add(*BULK_ACTIONS)
export_sources.add(DELIVERIES)
move_handlers.add(MOVE_HANDLER)
restoration_handlers.add(RESTORATION_HANDLER)
support_panels.add(*SUPPORT_PANELS)
support_search_sources.add(*SUPPORT_FIND_SOURCES)
support_start_panels.add(*SUPPORT_START_PANELS)
hub_panels.add(*HUB_PANELS)
hub_concern_sources.add(*HUB_CONCERNS)
health_checks.add(*HEALTH)
guides.add(
    Guide(
        area=CONSOLE,
        slug="webhooks",
        title=_("Webhooks and deliveries"),
        summary=_("Your systems get each event, and you see whether it arrived."),
        picture=_("The form of a webhook, with its address and the choice of events."),
        order=80,
        pages=("webhooks",),
        related=("api-keys", "activity"),
    ),
    Guide(
        area=DASHBOARD,
        slug="api",
        title=_("API keys and webhooks"),
        summary=_("Connect your workspace with other systems."),
        picture=_("The form of a new API key, with its name, its last day and the networks from which it works."),
        order=150,
        pages=("api-keys", "webhooks"),
        related=("people",),
    ),
)
