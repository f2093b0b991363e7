"""Switching automations off, and on if they are ready."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from agency.actors import Actor
from workspaces.automations.flows.presentation.summary import shown_step
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.settings import SETTING_LABELS, settings_used
from workspaces.automations.flows.slots import open_slots
from workspaces.automations.models import Automation
from workspaces.automations.services.activity import record_automation_activity
from workspaces.automations.services.answering import (
    ANSWERED,
    Answering,
    answering_in,
    doubled_by,
    save_once_answered,
)
from workspaces.automations.services.errors import NotReady
from workspaces.automations.services.locking import lock_automation
from workspaces.automations.services.readiness import met_requirements
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace
from workspaces.subaccounts.services import record_workspace_event, settings_in_texts

ENABLED, DISABLED = "automation.enabled", "automation.disabled"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a workspace has for its automations.

    `met` are the requirements that it meets, `platforms` the channel types with an active channel, `answering` the
    automations that are on and may conflict with others, `settings` the values for texts.
    """

    met: set[str]
    platforms: set[str]
    answering: list[Answering]
    settings: dict[str, str]


def capabilities_of(workspace: Workspace) -> Capabilities:
    """Read what the workspace has, once for all of its automations."""
    active = workspace.channels.filter(status=Channel.Status.ACTIVE)
    return Capabilities(
        met_requirements(workspace),
        set(active.values_list("platform", flat=True)),
        answering_in(workspace),
        settings_in_texts(workspace),
    )


def reasons_not_ready(automation: Automation, capabilities: Capabilities | None = None) -> list[str]:
    """Give the reasons, in sentences, why this automation cannot be switched on yet.

    They are in the language of the page that asks. The APIs have no language and get English.
    """
    capabilities = capabilities or capabilities_of(automation.workspace)
    reasons = [
        _("Fill in %(step)s (%(label)s).") % {"step": shown_step(slot["step"]), "label": _(slot["label"])}
        for slot in open_slots(automation.draft, automation.slots)
    ]
    if automation.published_id is None and not reasons:
        reasons.append(_("Publish the automation first."))
    return reasons + reasons_beyond_slots(automation, capabilities)


def reasons_beyond_slots(automation: Automation, capabilities: Capabilities) -> list[str]:
    """Give the reasons that filling in the automation's slots cannot solve."""
    missing = [name for name in automation.requires if name not in capabilities.met]
    reasons = [_("This needs %(what)s.") % {"what": _(REQUIREMENTS[name])} for name in missing]
    if automation.platform not in capabilities.platforms:
        reasons.append(_("Connect a %(channel)s channel first.") % {"channel": CHANNEL_NAMES[automation.platform]})
    reasons += [
        _("Fill in %(setting)s in the settings: %(where)s needs it.")
        % {"setting": _(SETTING_LABELS[name]), "where": _where(where)}
        for name, where in settings_used(automation.draft).items()
        if not capabilities.settings[name]
    ]
    double = doubled_by(automation, capabilities.answering)
    return [*reasons, double.sentence] if double else reasons


def _where(title: str) -> str:
    number = title.removeprefix("step ")
    return _("step %(number)s") % {"number": number} if number.isdigit() else _("the start")


@transaction.atomic
def switch_on(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Switch an automation on. One that is on stays as it is. Raises `NotReady` with everything that is missing."""
    automation = lock_automation(automation)
    if not automation.enabled:
        reasons = reasons_not_ready(automation)
        if reasons:
            raise NotReady(reasons)
        if not _set(automation, enabled=True, now=now):
            raise NotReady([ANSWERED])
        record_automation_activity(automation, "automation.switched_on", by)
        _tell(automation, ENABLED, now)
    return automation


@transaction.atomic
def switch_off(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Switch an automation off. One that is off stays as it is."""
    automation = lock_automation(automation)
    if automation.enabled:
        _set(automation, enabled=False, now=now)
        record_automation_activity(automation, "automation.switched_off", by)
        _tell(automation, DISABLED, now)
    return automation


def _tell(automation: Automation, name: str, now: datetime) -> None:
    record_workspace_event(workspace=automation.workspace, name=name, now=now, automation=automation)


def _set(automation: Automation, *, enabled: bool, now: datetime) -> bool:
    """Save the state. Gives False if another automation that answers the same was switched on a moment ago."""
    automation.enabled, automation.updated_at = enabled, now
    return save_once_answered(automation, "enabled", "updated_at")
