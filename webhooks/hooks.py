"""What webhooks add elsewhere: events of the document; the console's menu, a first step, labels of the activity log."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.pages.registry import (
    ActivityTarget,
    Concern,
    ConcernSource,
    FirstStep,
    MenuEntry,
    Section,
    activity_targets,
    concern_sources,
    console_menu,
    dashboard_menu,
    first_steps,
    label_actions,
)
from agency.services.events import SubscriberCheck, subscriber_checks
from agency.services.retention import EventReader, event_readers
from agency.tenants import Audience
from config.api.documents.events import DocumentedEvents, documented_events
from config.metrics import METRICS
from config.retention.rules import retention_rules
from webhooks import metrics
from webhooks.documented_events import events_of
from webhooks.models import Endpoint
from webhooks.services import has_subscribers, subscriptions
from webhooks.services.retention import RULES, events_needed_since

ACTIONS = {
    "webhook.created": _("Webhook added"),
    "webhook.changed": _("Webhook edited"),
    "webhook.removed": _("Webhook removed"),
    "webhook.secret_rotated": _("Webhook secret rotated"),
    "webhook.tested": _("Webhook tested"),
    "webhook.redelivered": _("Delivery sent again"),
    "webhook.failed_redelivered": _("Failed deliveries sent again"),
    "webhook.replayed": _("Deliveries sent again"),
}


def _has_endpoint(agency: Agency) -> bool:
    return Endpoint.objects.of(agency).exists()


MOST_NAMED = 3
LONGEST_SHOWN = 100


def concerns(agency: Agency) -> Iterable[Concern]:
    """Endpoints whose newest delivery failed."""
    failing = Endpoint.objects.of(agency).filter(enabled=True, last_outcome=Endpoint.Outcome.ERROR)
    for endpoint in failing.order_by("id").only("uuid", "url")[:MOST_NAMED]:
        yield Concern(
            text=_("The webhook to %(url)s fails.") % {"url": Truncator(endpoint.url).chars(LONGEST_SHOWN)},
            url=reverse("console:webhook", args=[endpoint.uuid]),
            action=_("Webhook"),
        )


METRICS.add(*metrics.METRICS)
concern_sources.add(ConcernSource(name="webhooks", order=10, concerns=concerns))
subscriber_checks.add(SubscriberCheck("webhooks", has_subscribers, subscriptions))
documented_events.add(
    DocumentedEvents("agency events", "agency", events_of(Audience.AGENCY)),
    DocumentedEvents("workspace events", "workspace", events_of(Audience.WORKSPACE)),
)
console_menu.add(
    MenuEntry(url_name="console:webhooks", label=_("Webhooks"), icon="webhook", section=Section.CONFIGURATION, order=20)
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
label_actions(ACTIONS)
activity_targets.add(ActivityTarget("webhook", "console:webhook"))
event_readers.add(EventReader("deliveries", events_needed_since))
retention_rules.add(*RULES)
