"""What webhooks add to the console: menu, a first step, and words of the activity log."""

from django.utils.translation import gettext_lazy as _

from agency.console.activity_words import register_actions, register_page
from agency.console.navigation import Entry, Section, register_entry
from agency.console.overview import Step, register_step
from agency.models import Agency
from webhooks.models import Endpoint

ACTIONS = {
    "webhook.created": _("Webhook added"),
    "webhook.changed": _("Webhook edited"),
    "webhook.removed": _("Webhook removed"),
    "webhook.secret_rotated": _("Webhook secret rotated"),
    "webhook.tested": _("Webhook tested"),
    "webhook.redelivered": _("Delivery sent again"),
    "webhook.failed_redelivered": _("Failed deliveries sent again"),
}


def _has_endpoint(agency: Agency) -> bool:
    return Endpoint.objects.of(agency).exists()


def register() -> None:
    register_entry(
        Entry(url_name="console:webhooks", label=_("Webhooks"), icon="webhook", section=Section.CONFIGURATION, order=20)
    )
    register_step(
        Step(
            title=_("Add a webhook"),
            text=_("Your systems hear of new, suspended and changed sub-accounts within moments."),
            url_name="console:webhook-new",
            action=_("Add webhook"),
            is_done=_has_endpoint,
            order=40,
        )
    )
    register_actions(ACTIONS)
    register_page("webhook", "console:webhook")
