"""Changes of an automation's draft, name and slots; creation and removal."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from unicodedata import category

from django.db import transaction

from agency.actors import Actor
from workspaces.automations.flows.checks import problems_of, structure_problems
from workspaces.automations.flows.flow import Flow
from workspaces.automations.flows.problem import Problem
from workspaces.automations.flows.slots import NoSuchSlot, SlotKey, filled, open_slots
from workspaces.automations.models import Automation
from workspaces.automations.services.activity import record_automation_activity
from workspaces.automations.services.errors import FlowRefused, NameNeeded, SlotNotFound, SlotRefused
from workspaces.automations.services.locking import lock_automation
from workspaces.automations.services.publishing import publish_locked
from workspaces.subaccounts.models import Workspace

LONGEST_NAME = 120
# Unicode categories of control characters, such as NUL, and of lone surrogates.
UNWRITABLE = frozenset({"Cc", "Cs"})


def checked_name(name: str) -> str:
    """Give the name trimmed. Raises `NameNeeded`."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or any(category(character) in UNWRITABLE for character in name):
        raise NameNeeded
    return name


def require_structure(flow: Any) -> None:
    """Raise `FlowRefused` for a flow that cannot be stored, even as a draft."""
    problems = list(structure_problems(flow))
    if problems:
        raise FlowRefused(problems)


@transaction.atomic
def create_automation(
    *, workspace: Workspace, name: str, platform: str, flow: Flow, now: datetime, by: Actor
) -> Automation:
    """Create an automation with a draft. Raises `FlowRefused`, `NameNeeded`."""
    require_structure(flow)
    automation = Automation.objects.create(
        workspace=workspace,
        name=checked_name(name),
        platform=platform,
        trigger=flow["trigger"]["type"][:40],
        draft=flow,
        created_at=now,
        updated_at=now,
    )
    record_automation_activity(automation, "automation.created", by)
    return automation


@transaction.atomic
def save_draft(*, automation: Automation, flow: Flow, now: datetime, by: Actor) -> Automation:
    """Replace the draft. The published version goes on running. Raises `FlowRefused`."""
    require_structure(flow)
    automation = lock_automation(automation)
    _store_draft(automation, flow, now)
    record_automation_activity(automation, "automation.draft_saved", by)
    return automation


@transaction.atomic
def rename_automation(*, automation: Automation, name: str, now: datetime, by: Actor) -> Automation:
    """Rename an automation. Raises `NameNeeded`."""
    automation = lock_automation(automation)
    before = automation.name
    automation.name, automation.updated_at = checked_name(name), now
    automation.save(update_fields=["name", "updated_at"])
    record_automation_activity(automation, "automation.renamed", by, {"name": (before, automation.name)})
    return automation


@transaction.atomic
def remove_automation(*, automation: Automation, by: Actor) -> None:
    """Remove an automation with its versions. Its pack can install it again."""
    automation = lock_automation(automation)
    record_automation_activity(automation, "automation.removed", by)
    automation.delete()


@transaction.atomic
def fill_slots(*, automation: Automation, values: Mapping[SlotKey, Any], now: datetime, by: Actor) -> Automation:
    """Fill slots of an installed copy, by node and path. When the last one is filled, the flow is published.

    Raises `SlotRefused` for an invalid value, and `SlotNotFound` for a node and path without a slot.
    """
    automation = lock_automation(automation)
    slots = {(slot["node"], slot["path"]): slot for slot in automation.slots}
    try:
        flow = filled(automation.draft, values)
    except NoSuchSlot as error:
        raise SlotNotFound from error
    if not values.keys() <= slots.keys():
        raise SlotNotFound
    require_structure(flow)
    problems = problems_of(flow, platform=automation.platform)
    _refuse_flaws(problems, values, slots)
    _store_draft(automation, flow, now)
    record_automation_activity(automation, "automation.slots_filled", by, slots=len(values))
    if not problems and not open_slots(flow, automation.slots):
        publish_locked(automation, now=now, by=by)
    return automation


def _refuse_flaws(problems: list[Problem], values: Mapping[SlotKey, Any], slots: dict[SlotKey, dict[str, str]]) -> None:
    flawed: dict[str, list[str]] = {}
    for problem in problems:
        path = ".".join(str(part) for part in problem.path)
        slot_key = next(
            (slot_key for slot_key in values if slot_key[0] == problem.node and _covers(slot_key[1], path)), None
        )
        if slot_key and not problem.empty:
            flawed.setdefault(".".join(slot_key), []).append(problem.sentence)
    if flawed:
        raise SlotRefused(flawed)


def _covers(slot: str, path: str) -> bool:
    return path == slot or path.startswith(f"{slot}.")


def _store_draft(automation: Automation, flow: Flow, now: datetime) -> None:
    automation.draft, automation.updated_at = flow, now
    if automation.published is None:
        automation.trigger = flow["trigger"]["type"][:40]
    automation.save(update_fields=["draft", "updated_at", "trigger"])
