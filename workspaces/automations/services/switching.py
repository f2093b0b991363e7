"""Switches automations off, and on if they are ready; the requirements of automations that a workspace meets."""

from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agency.actors import Actor
from config.hooks import Registry
from workspaces.automations.flows.availability import reasons_unavailable
from workspaces.automations.flows.flow import SETTING_LABELS, open_slots, settings_used, steps_of, with_chosen_templates
from workspaces.automations.flows.presentation import translated_step_title
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation
from workspaces.automations.services.conflicts import (
    CONFLICT,
    EnabledAutomation,
    enabled_automations,
    find_conflict,
    save_unless_conflict,
)
from workspaces.automations.services.drafts import lock_automation, record_automation_activity
from workspaces.automations.services.errors import AutomationNotFound, NotReady
from workspaces.automations.services.reminders import plan_reminders_of
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace
from workspaces.subaccounts.services import record_workspace_event, settings_in_texts


@dataclass(frozen=True, slots=True)
class RequirementCheck:
    """A feature's check of the requirement with this name. Each requirement has one.

    `url_name` is the page on which a customer can meet the requirement.
    """

    name: str
    is_met: Callable[[Workspace], bool]
    url_name: str = ""

    def __post_init__(self) -> None:
        if self.name not in REQUIREMENTS:
            raise LookupError(f"{self.name} is no requirement.")


requirement_checks = Registry[RequirementCheck](
    "requirement checks",
    called=(
        "`met_requirements` calls `is_met` of each, when automations are switched on and on pages that show what "
        "is missing"
    ),
    transaction="the caller's; on pages none",
    failure="rolls the caller back; the page answers 500",
)


def requirement_url_name(name: str) -> str:
    """Give the URL name of the page on which a requirement can be met; empty without one."""
    check = requirement_checks.get(name)
    return check.url_name if check else ""


class MetRequirements(Container[str]):
    """The requirements that a workspace meets. Each is looked up once, when somebody asks for it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, bool] = {}

    def __contains__(self, name: object) -> bool:
        asked = str(name)
        if asked not in self._known:
            self._known[asked] = self._is_met(asked)
        return self._known[asked]

    def _is_met(self, name: str) -> bool:
        check = requirement_checks.get(name)
        return check is not None and check.is_met(self._workspace)


def met_requirements(workspace: Workspace) -> set[str]:
    """Give the names of all requirements that the workspace meets: about one statement for each."""
    met = MetRequirements(workspace)
    return {name for name in REQUIREMENTS if name in met}


def missing_requirements(*, workspace: Workspace, names: Iterable[str]) -> list[str]:
    """Give the named requirements that the workspace does not meet, in the order given."""
    met = MetRequirements(workspace)
    return [name for name in names if name not in met]


ENABLED, DISABLED = "automation.enabled", "automation.disabled"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a workspace has for its automations.

    `met` are the requirements that it meets, `platforms` the channel types with an active channel, `answering` the
    automations that are on and may conflict with others, `settings` the values for texts.
    """

    met: Container[str]
    platforms: set[str]
    answering: list[EnabledAutomation]
    settings: dict[str, str]


def capabilities_of(workspace: Workspace) -> Capabilities:
    """Read what the workspace has, once for all of its automations."""
    active = workspace.channels.filter(status=Channel.Status.ACTIVE)
    return Capabilities(
        MetRequirements(workspace),
        set(active.values_list("platform", flat=True)),
        enabled_automations(workspace),
        settings_in_texts(workspace),
    )


def reasons_not_ready(automation: Automation, capabilities: Capabilities | None = None) -> list[str]:
    """Give the reasons, in sentences, why this automation cannot be switched on yet.

    They are in the language of the page that asks. The APIs have no language and get English.
    """
    capabilities = capabilities or capabilities_of(automation.workspace)
    slots = [
        _("Fill in %(step)s (%(label)s).") % {"step": translated_step_title(slot["step"]), "label": _(slot["label"])}
        for slot in open_slots(automation.draft, automation.slots)
    ]
    if automation.published_id is None and not slots:
        slots.append(_("Publish the automation first."))
    return reasons_barred(automation) + slots + reasons_beyond_slots(automation, capabilities)


def reasons_barred(automation: Automation) -> list[str]:
    """Give the reasons, in sentences, why the product cannot run this automation, however its slots are filled in.

    They are those of the published version, or of the draft if nothing is published. A draft with unknown types has
    none, because it cannot be published either.
    """
    flow = automation.published.flow if automation.published else automation.draft
    is_known = flow["trigger"]["type"] in TRIGGERS and all(step["type"] in STEPS for step in steps_of(flow))
    if not is_known:
        return []
    return reasons_unavailable(with_chosen_templates(flow, automation.slots), automation.platform)


def reasons_beyond_slots(automation: Automation, capabilities: Capabilities) -> list[str]:
    """Give the reasons that people can solve elsewhere than in the automation's slots."""
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
    double = find_conflict(automation, capabilities.answering)
    return [*reasons, double.sentence] if double else reasons


def _where(title: str) -> str:
    number = title.removeprefix("step ")
    return _("step %(number)s") % {"number": number} if number.isdigit() else _("the start")


@transaction.atomic
def enable_automation(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Switch an automation on. One that is on stays as it is. Raises `NotReady` with everything that is missing."""
    automation = lock_automation(automation)
    if not automation.enabled:
        reasons = reasons_not_ready(automation)
        if reasons:
            raise NotReady(reasons)
        if not _save_enabled(automation, enabled=True, now=now):
            raise NotReady([CONFLICT])
        plan_reminders_of(automation, now=now)
        record_automation_activity(automation, "automation.switched_on", by)
        _record_event(automation, ENABLED, now)
    return automation


@transaction.atomic
def disable_automation(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Switch an automation off. One that is off stays as it is."""
    automation = lock_automation(automation)
    if automation.enabled:
        _save_enabled(automation, enabled=False, now=now)
        record_automation_activity(automation, "automation.switched_off", by)
        _record_event(automation, DISABLED, now)
    return automation


def _record_event(automation: Automation, name: str, now: datetime) -> None:
    record_workspace_event(workspace=automation.workspace, name=name, now=now, automation=automation)


def _save_enabled(automation: Automation, *, enabled: bool, now: datetime) -> bool:
    """Save the state. Gives False if another automation that answers the same was switched on a moment ago."""
    automation.enabled, automation.updated_at = enabled, now
    return save_unless_conflict(automation, "enabled", "updated_at")


# To switch on more, the customer has to ask again.
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class DisabledAutomations:
    """The newest automations that are off: the ready ones, and the others with the reasons."""

    ready: list[Automation]
    waiting: list[tuple[Automation, list[str]]]


@dataclass(frozen=True, slots=True)
class EnableResult:
    """The result: the automations that are on now, and the refused ones with the reasons."""

    on: list[Automation]
    refused: list[tuple[Automation, list[str]]]


def disabled_automations(workspace: Workspace) -> DisabledAutomations:
    """Check which of the automations that are off are ready, in a constant number of statements."""
    off = workspace.automations.filter(enabled=False).select_related("published")
    capabilities = capabilities_of(workspace)
    judged = [(one, reasons_not_ready(one, capabilities)) for one in off.order_by("-created_at", "-id")[:MOST_AT_ONCE]]
    return DisabledAutomations([one for one, reasons in judged if not reasons], [pair for pair in judged if pair[1]])


def enable_ready_automations(
    *, workspace: Workspace, chosen: Collection[UUID], now: datetime, by: Actor
) -> EnableResult:
    """Switch on the chosen automations that are ready, one event each. Of two that answer the same, the newer wins."""
    done = EnableResult([], [])
    for automation in disabled_automations(workspace).ready:
        if automation.uuid not in chosen:
            continue
        try:
            done.on.append(enable_automation(automation=automation, now=now, by=by))
        except NotReady as error:
            done.refused.append((automation, error.reasons))
        except AutomationNotFound:
            continue
    return done
