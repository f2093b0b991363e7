"""Switching automations on, only when they are ready, and off."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.slots import open_slots
from workspaces.automations.models import Automation
from workspaces.automations.services.errors import NotReady
from workspaces.automations.services.notes import lock_automation, note_automation
from workspaces.automations.services.readiness import met_requirements
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace


@dataclass(frozen=True, slots=True)
class Means:
    """What a workspace can run automations with: requirements it meets, channel types it has an active channel of."""

    met: set[str]
    platforms: set[str]


def means_of(workspace: Workspace) -> Means:
    """Look up what the workspace has, once for all of its automations."""
    active = workspace.channels.filter(status=Channel.Status.ACTIVE)
    return Means(met_requirements(workspace), set(active.values_list("platform", flat=True)))


def what_is_missing(automation: Automation, means: Means | None = None) -> list[str]:
    """Say in sentences what has to be done before this automation can be switched on; nothing if it is ready."""
    means = means or means_of(automation.workspace)
    reasons = [f"Fill in {slot['step']} ({slot['label']})." for slot in open_slots(automation.draft, automation.slots)]
    if automation.published_id is None and not reasons:
        reasons.append("Publish the automation first.")
    reasons += [f"This needs {REQUIREMENTS[name]}." for name in automation.requires if name not in means.met]
    if automation.platform not in means.platforms:
        reasons.append(f"Connect a {CHANNEL_NAMES[automation.platform]} channel first.")
    return reasons


@transaction.atomic
def switch_on(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Switch it on. Raises `NotReady` with everything that is missing; one that is on stays as it is."""
    automation = lock_automation(automation)
    if not automation.enabled:
        reasons = what_is_missing(automation)
        if reasons:
            raise NotReady(reasons)
        _set(automation, enabled=True, now=now)
        note_automation(automation, "automation.switched_on", by)
    return automation


@transaction.atomic
def switch_off(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Switch it off; one that is off stays as it is."""
    automation = lock_automation(automation)
    if automation.enabled:
        _set(automation, enabled=False, now=now)
        note_automation(automation, "automation.switched_off", by)
    return automation


def _set(automation: Automation, *, enabled: bool, now: datetime) -> None:
    automation.enabled, automation.updated_at = enabled, now
    automation.save(update_fields=["enabled", "updated_at"])
