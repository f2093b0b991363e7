"""The declarations of types of triggers and steps, and the requirements that they may have.

A new type of step needs one declaration, and an executor in `execution/` to run.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

from agency.limits import CHANNEL_TYPES
from workspaces.automations.flows.fields import Field

ALL_CHANNELS = CHANNEL_TYPES

# What the product does not have yet, in words for people.
NO_ORDERS = _("Orders are not available yet")
NO_REVIEWS = _("Reviews and questions of a business profile are not available yet")
NO_PRODUCTS = _("Sending products is not available yet")


@dataclass(frozen=True, kw_only=True, slots=True)
class StepType:
    """A type of step.

    `ports` are its outputs. `port_per` names a list field whose items each add a port: `("button", "buttons")` gives
    `button_1`, `button_2` …. `barred` says why the step may not go into a pack. `waits` says that the step waits; every
    loop needs such a step. `unavailable` says why the product cannot run the step yet. `settings` are the workspace's
    settings without which it cannot run.
    """

    name: str
    label: str
    fields: tuple[Field, ...] = ()
    ports: tuple[str, ...] = ("next",)
    port_per: tuple[str, str] | None = None
    channels: tuple[str, ...] = ALL_CHANNELS
    requires: tuple[str, ...] = ()
    ai: bool = False
    waits: bool = False
    barred: str = ""
    unavailable: str = ""
    settings: tuple[str, ...] = ()

    def ordered_ports(self, config: Mapping[str, object]) -> list[str]:
        """Give the outputs of a step with this configuration in the order in which people read them."""
        if not self.port_per:
            return list(self.ports)
        prefix, field = self.port_per
        items = config.get(field)
        many = len(items) if isinstance(items, list) else 0
        return [*(f"{prefix}_{number}" for number in range(1, many + 1)), *self.ports]

    def ports_of(self, config: Mapping[str, object]) -> set[str]:
        return set(self.ordered_ports(config))


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerType:
    """A type of trigger.

    `catch_all` says that it answers every message or comment. `unavailable` says why nothing can start it yet.
    """

    name: str
    label: str
    fields: tuple[Field, ...] = ()
    channels: tuple[str, ...] = ALL_CHANNELS
    requires: tuple[str, ...] = ()
    catch_all: bool = False
    barred: str = ""
    unavailable: str = ""


REQUIREMENTS: dict[str, str] = {
    "service": _("a service or product to sell"),
    "availability": _("working hours"),
    "booking_page": _("a booking page"),
    "payment": _("a payment method connected"),
    "contact": _("at least one contact"),
    "template": _("an approved messaging template"),
}


def in_order(names: set[str]) -> list[str]:
    """Give requirements in their documented order."""
    return [name for name in REQUIREMENTS if name in names]
