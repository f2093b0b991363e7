"""Switching on all automations that are ready, each by `switch_on` in a separate transaction."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agency.actors import Actor
from workspaces.automations.models import Automation
from workspaces.automations.services.errors import AutomationNotFound, NotReady
from workspaces.automations.services.switching import capabilities_of, reasons_not_ready, switch_on
from workspaces.subaccounts.models import Workspace

# To switch on more, the customer has to ask again.
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class OffAutomations:
    """The newest automations that are off: the ready ones, and the others with the reasons."""

    ready: list[Automation]
    waiting: list[tuple[Automation, list[str]]]


@dataclass(frozen=True, slots=True)
class SwitchedOn:
    """The result: the automations that are on now, and the refused ones with the reasons."""

    on: list[Automation]
    refused: list[tuple[Automation, list[str]]]


def off_automations(workspace: Workspace) -> OffAutomations:
    """Check which of the automations that are off are ready, in a constant number of statements."""
    off = workspace.automations.filter(enabled=False).order_by("-created_at", "-id")[:MOST_AT_ONCE]
    capabilities = capabilities_of(workspace)
    judged = [(one, reasons_not_ready(one, capabilities)) for one in off]
    return OffAutomations([one for one, reasons in judged if not reasons], [pair for pair in judged if pair[1]])


def switch_on_ready(*, workspace: Workspace, chosen: Collection[UUID], now: datetime, by: Actor) -> SwitchedOn:
    """Switch on the chosen automations that are ready, one event each. Of two that answer the same, the newer wins."""
    done = SwitchedOn([], [])
    for automation in off_automations(workspace).ready:
        if automation.uuid not in chosen:
            continue
        try:
            done.on.append(switch_on(automation=automation, now=now, by=by))
        except NotReady as error:
            done.refused.append((automation, error.reasons))
        except AutomationNotFound:
            continue
    return done
