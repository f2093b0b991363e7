"""Says why a flow cannot run yet: parts that the product declares but does not do."""

from collections.abc import Iterator
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, step_title, steps_of
from workspaces.automations.flows.presentation import translated_step_title
from workspaces.subaccounts.models import CHANNEL_NAMES

# The channel types on which the sender can send messages.
SENDING_PLATFORMS = frozenset({"whatsapp", "facebook", "instagram"})

APPOINTMENTS = gettext_lazy("Appointments are not available yet")
PAYMENTS = gettext_lazy("Payments are not available yet")
ORDERS = gettext_lazy("Orders are not available yet")
REVIEWS = gettext_lazy("Reviews and questions of a business profile are not available yet")
PRODUCTS = gettext_lazy("Sending products is not available yet")

UNAVAILABLE_STEPS: dict[str, Promise] = {
    "book_appointment": APPOINTMENTS,
    "change_appointment": APPOINTMENTS,
    "payment_link": PAYMENTS,
    "order_status": ORDERS,
    "give_discount": gettext_lazy("Discounts are not available yet"),
    "move_stage": gettext_lazy("Pipelines are not available yet"),
    "custom_code": gettext_lazy("Running code is not available yet"),
    "connected_app": gettext_lazy("Connected apps are not available yet"),
    "reply_to_review": REVIEWS,
    "send_product": PRODUCTS,
    "send_catalogue": PRODUCTS,
    "create_task": gettext_lazy("Tasks are not available yet"),
}
UNAVAILABLE_TRIGGERS: dict[str, Promise] = {
    "appointment_booked": APPOINTMENTS,
    "appointment_near": APPOINTMENTS,
    "appointment_done": APPOINTMENTS,
    "appointment_missed": APPOINTMENTS,
    "order_placed": ORDERS,
    "order_shipped": ORDERS,
    "cart_abandoned": ORDERS,
    "payment_received": PAYMENTS,
    "review_received": REVIEWS,
    "question_received": REVIEWS,
    "new_follower": gettext_lazy("New followers are not reported yet"),
    "missed_call": gettext_lazy("Calls are not available yet"),
    "chat_opened": gettext_lazy("The chat for websites is not available yet"),
    "form_sent": gettext_lazy("Forms are not available yet"),
    "outside_call": gettext_lazy("Calls from other programs are not available yet"),
}
# Moments of `wait_until` that need an appointment.
APPOINTMENT_MOMENTS = frozenset({"before_appointment", "after_appointment"})


def reasons_unavailable(flow: Flow, platform: str) -> list[str]:
    """Give the reasons, in sentences, why the product cannot run this flow on this channel type; empty if it can.

    Each reason names the first part of the flow to which it applies. The flow must have passed the checks.
    """
    reasons = {str(reason): node for node, reason in reversed([*_unavailable_parts(flow)])}
    sentences = [
        _("%(reason)s (%(part)s).") % {"reason": reason, "part": translated_step_title(step_title(flow, node))}
        for reason, node in reversed(reasons.items())
    ]
    if platform in SENDING_PLATFORMS:
        return sentences
    channel = CHANNEL_NAMES.get(platform, platform)
    return [_("Automations cannot send messages on %(channel)s yet.") % {"channel": channel}, *sentences]


def can_run(flow: Flow, platform: str) -> bool:
    """Say whether the product can run this flow on this channel type."""
    return platform in SENDING_PLATFORMS and next(_unavailable_parts(flow), None) is None


def _unavailable_parts(flow: Flow) -> Iterator[tuple[str, Promise]]:
    """Give the nodes that cannot run, in the flow's order, each with its reason."""
    trigger = UNAVAILABLE_TRIGGERS.get(flow["trigger"]["type"])
    if trigger:
        yield TRIGGER_NODE, trigger
    for step in steps_of(flow):
        reason = _reason_of_step(step)
        if reason:
            yield step["id"], reason


def _reason_of_step(step: dict[str, Any]) -> Promise | None:
    config = step.get("config")
    moment = config.get("moment") if isinstance(config, dict) else None
    if step["type"] == "wait_until" and moment in APPOINTMENT_MOMENTS:
        return APPOINTMENTS
    return UNAVAILABLE_STEPS.get(step["type"])
