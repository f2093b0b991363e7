"""Registers the app's menu entries, documented events, activity labels, metrics, notifications and bulk actions."""

from collections.abc import Iterable

from django.db.models import Exists
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.notification_kinds import notification_kinds
from agency.pages.charts import ChartSource, chart_sources
from agency.pages.registry import (
    ActivityAction,
    ActivityTarget,
    Alert,
    AlertSource,
    FirstStep,
    MenuEntry,
    Section,
    activity_actions,
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
)
from agency.services.activity import RecordedAction, recorded_actions
from agency.services.agencies import restoration_handlers
from agency.services.bulk import bulk_actions
from agency.services.events import SubscriptionSource, subscriber_checks
from agency.services.exports import export_sources
from agency.services.notifications.recording import state_checks
from agency.services.retention import EventReader, event_readers
from agency.tenants import Audience
from config.api.documents.building import DocumentedEvents, documented_events
from config.metrics import METRICS
from config.retention import retention_rules
from webhooks import metrics
from webhooks.console.bulk import ACTIONS as BULK_ACTIONS
from webhooks.console.exports import DELIVERIES
from webhooks.documented_events import events_of
from webhooks.models import Endpoint
from webhooks.pages.charts import ended_deliveries
from webhooks.pages.finding import found_deliveries, found_endpoints
from webhooks.pages.hub import CONCERNS as HUB_CONCERNS
from webhooks.pages.hub import PANELS as HUB_PANELS
from webhooks.pages.labels import concern_words
from webhooks.pages.support import PANELS as SUPPORT_PANELS
from webhooks.pages.support import SOURCES as SUPPORT_FIND_SOURCES
from webhooks.services import has_subscribers, needing_attention, subscriptions
from webhooks.services.endpoints import MOST_ENDPOINTS
from webhooks.services.holding import RESTORATION
from webhooks.services.moving import ENDPOINTS
from webhooks.services.notifications import KINDS as NOTIFICATION_KINDS
from webhooks.services.notifications import STATE_CHECKS
from webhooks.services.recorded_fields import FIELDS as RECORDED_FIELDS
from webhooks.services.retention import RULES, events_needed_since
from workspaces.subaccounts.pages.registry import hub_concern_sources, hub_panels
from workspaces.subaccounts.services.workspaces import move_handlers

ACTIONS = {
    "webhook.created": _("Webhook added"),
    "webhook.changed": _("Webhook edited"),
    "webhook.removed": _("Webhook removed"),
    "webhook.failures_dismissed": _("Webhook failures dismissed"),
    "webhook.secret_rotated": _("Webhook secret rotated"),
    "webhook.tested": _("Webhook tested"),
    "webhook.redelivered": _("Delivery sent again"),
    "webhook.failed_redelivered": _("Failed deliveries sent again"),
    "webhook.replayed": _("Deliveries sent again"),
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
            text=concern_words(condition, Truncator(endpoint.url).chars(LONGEST_SHOWN)),
            url=reverse("console:webhook", args=[endpoint.uuid]),
            action=_("Webhook"),
        )


METRICS.add(*metrics.METRICS)
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
    MenuEntry(url_name="app:webhooks", label=_("Webhooks"), icon="webhook", section=Section.CONFIGURATION, order=86)
)
first_steps.add(
    FirstStep(
        title=_("Add a webhook"),
        text=_("Your systems hear of new, suspended and changed sub-accounts within moments."),
        url_name="console:webhook-new",
        action=_("Add webhook"),
        is_done=_has_endpoint,
        order=45,
    )
)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS))
notification_kinds.add(*NOTIFICATION_KINDS)
state_checks.add(*STATE_CHECKS)
activity_targets.add(ActivityTarget("webhook", "console:webhook"))
event_readers.add(EventReader("deliveries", events_needed_since))
retention_rules.add(*RULES)
bulk_actions.add(*BULK_ACTIONS)
export_sources.add(DELIVERIES)
move_handlers.add(ENDPOINTS)
restoration_handlers.add(RESTORATION)
support_panels.add(*SUPPORT_PANELS)
support_search_sources.add(*SUPPORT_FIND_SOURCES)
hub_panels.add(*HUB_PANELS)
hub_concern_sources.add(*HUB_CONCERNS)
