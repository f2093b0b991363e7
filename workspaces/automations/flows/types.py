"""What a type of trigger or step declares: one declaration is all that a new type needs."""

from dataclasses import dataclass
from typing import Any

from agency.limits import CHANNEL_TYPES
from workspaces.automations.flows.fields import Field

EVERYWHERE = CHANNEL_TYPES


@dataclass(frozen=True, kw_only=True, slots=True)
class StepType:
    """A kind of step.

    `ports` are the ways out; `port_per` names a list field of which each entry is a way out of its own:
    `("button", "buttons")` gives `button_1`, `button_2` …. `barred` says why a step may not go into a pack.
    `waits` tells that time passes here, which a loop needs.
    """

    name: str
    label: str
    fields: tuple[Field, ...] = ()
    ports: tuple[str, ...] = ("next",)
    port_per: tuple[str, str] | None = None
    channels: tuple[str, ...] = EVERYWHERE
    requires: tuple[str, ...] = ()
    ai: bool = False
    waits: bool = False
    barred: str = ""

    def ports_of(self, config: dict[str, Any]) -> set[str]:
        ports = set(self.ports)
        if self.port_per:
            word, field = self.port_per
            entries = config.get(field)
            many = len(entries) if isinstance(entries, list) else 0
            ports |= {f"{word}_{number}" for number in range(1, many + 1)}
        return ports


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerType:
    """What starts a flow. `catch_all` marks one that answers every message or comment."""

    name: str
    label: str
    fields: tuple[Field, ...] = ()
    channels: tuple[str, ...] = EVERYWHERE
    requires: tuple[str, ...] = ()
    catch_all: bool = False
    barred: str = ""
