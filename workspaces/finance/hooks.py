"""This app's registrations."""

from django.utils.translation import gettext_lazy as _

from agency.event_types import event_types
from agency.notification_kinds import notification_kinds
from agency.pages.registry import ActivityAction, MenuEntry, Section, activity_actions, dashboard_menu
from config.request_bodies import BodyRule, body_rules
from config.retention import retention_rules
from workspaces.finance import events
from workspaces.finance.public import LONGEST_EVENT
from workspaces.finance.serializers.payments import PaymentSerializer
from workspaces.finance.services.payment_notifications import KINDS as PAYMENT_KINDS
from workspaces.finance.services.provider_events import RULES as PROVIDER_EVENT_RULES
from workspaces.subaccounts.events import workspace_event_type

# Payments ---------------------------------------------------------------------------------------------

PAYMENT_ACTIONS = {
    "payment.received": _("Payment recorded"),
    "payment.overpaid": _("Invoice paid twice"),
    "payment.refund_started": _("Refund started"),
    "payment.refunded": _("Payment refunded"),
    "payment.refund_failed": _("Refund failed"),
    "payment.disputed": _("Payment disputed"),
    "payment.dispute_changed": _("Dispute changed"),
    "payment_account.connected": _("Payment account connected"),
    "payment_account.key_changed": _("Key of the payment account changed"),
    "payment_account.failing": _("Payment account stopped"),
    "payment_account.disconnected": _("Payment account disconnected"),
}
for name, label, sample in (
    (events.PAYMENT_RECEIVED, "Payment received", {}),
    (events.PAYMENT_REFUNDED, "Payment refunded", {"refunded": 119.0, "status": "refunded"}),
):
    event_types.add(
        workspace_event_type(
            name, label, group="Payments", resource="payment", serializer=PaymentSerializer, sample=sample
        )
    )
activity_actions.add(*ActivityAction.from_labels(PAYMENT_ACTIONS))
notification_kinds.add(*PAYMENT_KINDS)
retention_rules.add(*PROVIDER_EVENT_RULES)
# An event without a signature is refused before its body is read.
body_rules.add(BodyRule("/pay/stripe/", most_bytes=LONGEST_EVENT, headers=(b"stripe-signature",), view_refuses=True))
dashboard_menu.add(
    MenuEntry(
        url_name="app:payment-account", label=_("Card payments"), icon="plug", section=Section.CONFIGURATION, order=60
    )
)
