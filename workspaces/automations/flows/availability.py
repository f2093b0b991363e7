"""Says why a flow cannot run yet: parts that the product declares but does not do."""

from collections.abc import Iterator, Mapping
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, Step, step_title, steps_of
from workspaces.automations.flows.presentation import translated_step_title
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import NO_ORDERS
from workspaces.subaccounts.models import CHANNEL_NAMES

# The channel types on which the sender can send messages.
SENDING_PLATFORMS: Final = frozenset({"whatsapp", "facebook", "instagram"})
# Moments of `wait_until` that need an appointment.
APPOINTMENT_MOMENTS: Final = frozenset({"before_appointment", "after_appointment"})
APPOINTMENT_STEPS: Final = frozenset({"book_appointment", "change_appointment"})
COMMENT_TRIGGERS: Final = frozenset({"any_comment", "comment_keyword"})
NO_TEMPLATE: Final = gettext_noop("No template is chosen")
NO_APPOINTMENT: Final = gettext_noop("The automation has no appointment")
NO_AMOUNT: Final = gettext_noop("Neither an amount nor a product is chosen")
NO_COMMENT: Final = gettext_noop("The automation does not start with a comment")


def reasons_unavailable(flow: Flow, platform: str) -> list[str]:
    """Give the reasons, in sentences, why the product cannot run this flow on this channel type; empty if it can.

    Each reason names the first part of the flow to which it applies. The flow must have passed the checks.
    """
    parts: dict[str, str] = {}
    for node, reason in _unavailable_parts(flow):
        parts.setdefault(reason, node)
    sentences = [
        _("%(reason)s (%(part)s).") % {"reason": _(reason), "part": translated_step_title(step_title(flow, node))}
        for reason, node in parts.items()
    ]
    if platform in SENDING_PLATFORMS:
        return sentences
    channel = CHANNEL_NAMES.get(platform, platform)
    return [_("Automations cannot send messages on %(channel)s yet.") % {"channel": channel}, *sentences]


def can_run(flow: Flow, platform: str) -> bool:
    """Say whether the product can run this flow on this channel type."""
    return platform in SENDING_PLATFORMS and next(_unavailable_parts(flow), None) is None


def _unavailable_parts(flow: Flow) -> Iterator[tuple[str, str]]:
    """Give the nodes that cannot run, in the flow's order, each with its reason."""
    trigger = TRIGGERS[flow["trigger"]["type"]]
    if trigger.unavailable:
        yield TRIGGER_NODE, trigger.unavailable
    for step in steps_of(flow):
        reason = STEPS[step["type"]].unavailable or _reason_of_config(flow, step)
        if reason:
            yield step["id"], reason


def _reason_of_config(flow: Flow, step: Step) -> str:
    """Give the reason why a step of a type that runs cannot run as it stands."""
    config = step.get("config") or {}
    needs_appointment = step["type"] == "wait_until" and config.get("moment") in APPOINTMENT_MOMENTS
    if needs_appointment and not has_appointment(flow):
        return NO_APPOINTMENT
    if step["type"] == "payment_link":
        return _reason_of_payment(config)
    if step["type"] == "send_template" and not config.get("template"):
        return NO_TEMPLATE
    if step["type"] == "reply_to_comment" and flow["trigger"]["type"] not in COMMENT_TRIGGERS:
        return NO_COMMENT
    return ""


def has_appointment(flow: Flow) -> bool:
    """Say whether runs may have an appointment: one starts them, or they book or change one."""
    is_started = flow["trigger"]["type"].startswith("appointment_")
    return is_started or any(step["type"] in APPOINTMENT_STEPS for step in steps_of(flow))


def _reason_of_payment(config: Mapping[str, object]) -> str:
    pays = config.get("pays")
    if pays == "order":
        return NO_ORDERS
    has_amount = config.get("amount") or config.get("product")
    return NO_AMOUNT if pays == "amount" and not has_amount else ""
