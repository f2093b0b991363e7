"""Changes of a draft by people: each is one function and one transaction, which can be undone.

Every change names in `seen` the draft that the person saw (`draft_mark`). If somebody has changed it meanwhile, nothing
is done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypedDict, Unpack
from uuid import uuid4

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from workspaces.automations.flows import editing
from workspaces.automations.flows.editing import EditRefused, Origins
from workspaces.automations.flows.fields import Field, validate_fields
from workspaces.automations.flows.flow import Flow, Step, digest_of
from workspaces.automations.flows.outline import Place
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.models import Automation
from workspaces.automations.services.drafts import (
    checked_name,
    create_automation,
    lock_automation,
    publish_locked,
    publishing_problems,
    record_automation_activity,
    replace_draft,
    require_structure,
    store_draft,
)
from workspaces.automations.services.errors import (
    DraftChanged,
    EditNotPossible,
    FlowRefused,
    NothingToRedo,
    NothingToUndo,
    ReentryDaysRequired,
    StepNotFound,
    TooManyAutomations,
    TypeNotOffered,
    ValuesRefused,
)
from workspaces.subaccounts.models import Workspace

MOST_AUTOMATIONS: Final = 1_000
MOST_REENTRY_DAYS: Final = 365
FIRST_STEPS: Final = {"review_received": "reply_to_review"}


def draft_mark(automation: Automation) -> str:
    """Give a mark of the draft as it is now. Two drafts have the same mark exactly if they are equal."""
    return digest_of(automation.draft)[:32]


def _require_seen(automation: Automation, seen: str) -> None:
    if seen != draft_mark(automation):
        raise DraftChanged


def _edited(
    automation: Automation, seen: str, action: str, change: Callable[[Automation], Flow], *, now: datetime, by: Actor
) -> Automation:
    """Lock the automation, change its draft, and record the activity. Raises `DraftChanged`, `EditNotPossible`."""
    automation = lock_automation(automation)
    _require_seen(automation, seen)
    try:
        flow = change(automation)
    except EditRefused as refusal:
        raise EditNotPossible(refusal.sentence, refusal.unreached) from refusal
    require_structure(flow)
    if flow != automation.draft:
        store_draft(automation, flow, action=action, now=now, by=by)
        record_automation_activity(automation, action, by)
    return automation


def _require_values(fields: tuple[Field, ...], config: object) -> None:
    """Raise `ValuesRefused` for values that do not fit. Values may be missing until the automation is published."""
    errors: dict[str, list[str]] = {}
    for error in validate_fields(fields, config):
        if not error.empty:
            errors.setdefault(".".join(str(part) for part in error.path), []).append(error.sentence)
    if errors:
        raise ValuesRefused(errors)


@transaction.atomic
def add_step(
    *,
    automation: Automation,
    seen: str,
    place: Place,
    type: str,
    config: dict[str, object],
    prune: bool = False,
    now: datetime,
    by: Actor,
) -> Automation:
    """Put a new step at a place. With `prune`, steps to which nothing leads then are removed."""
    declared = STEPS.get(type)
    if declared is None or automation.platform not in declared.channels:
        raise TypeNotOffered
    _require_values(declared.fields, config)
    step_id = f"s{uuid4().hex[:12]}"

    def change(automation: Automation) -> Flow:
        return editing.add_step(automation.draft, place=place, step_id=step_id, type=type, config=config, prune=prune)

    return _edited(automation, seen, "automation.step_added", change, now=now, by=by)


@transaction.atomic
def change_step(
    *,
    automation: Automation,
    seen: str,
    step: str,
    config: dict[str, object],
    origins: Mapping[str, Origins] | None = None,
    prune: bool = False,
    now: datetime,
    by: Actor,
) -> Automation:
    """Replace a step's configuration. `origins` gives for each item of a list its position before."""

    def change(automation: Automation) -> Flow:
        declared = STEPS.get(editing.find_step(automation.draft, step)["type"])
        if declared is None:
            raise StepNotFound
        _require_values(declared.fields, config)
        return editing.change_step(automation.draft, node=step, config=config, origins=origins, prune=prune)

    return _edited(automation, seen, "automation.step_changed", change, now=now, by=by)


@transaction.atomic
def move_step(*, automation: Automation, seen: str, step: str, place: Place, now: datetime, by: Actor) -> Automation:
    """Put a step at another place. What followed it closes the gap."""

    def change(automation: Automation) -> Flow:
        return editing.move_step(automation.draft, node=step, place=place)

    return _edited(automation, seen, "automation.step_moved", change, now=now, by=by)


@transaction.atomic
def remove_step(
    *, automation: Automation, seen: str, step: str, keep: str = "", now: datetime, by: Actor
) -> Automation:
    """Remove a step and its branches, but not the branch of its output `keep`."""

    def change(automation: Automation) -> Flow:
        return editing.remove_step(automation.draft, node=step, keep=keep)

    return _edited(automation, seen, "automation.step_removed", change, now=now, by=by)


@transaction.atomic
def connect(
    *, automation: Automation, seen: str, place: Place, target: str, prune: bool = False, now: datetime, by: Actor
) -> Automation:
    """Let a place lead to a step that is there already, or to the end (an empty target)."""

    def change(automation: Automation) -> Flow:
        return editing.connect(automation.draft, place=place, target=target, prune=prune)

    return _edited(automation, seen, "automation.steps_connected", change, now=now, by=by)


@transaction.atomic
def change_trigger(
    *, automation: Automation, seen: str, type: str, config: dict[str, object], now: datetime, by: Actor
) -> Automation:
    """Replace what starts the automation."""
    declared = TRIGGERS.get(type)
    if declared is None or automation.platform not in declared.channels:
        raise TypeNotOffered
    _require_values(declared.fields, config)

    def change(automation: Automation) -> Flow:
        return editing.change_trigger(automation.draft, type=type, config=config)

    return _edited(automation, seen, "automation.trigger_changed", change, now=now, by=by)


@transaction.atomic
def replace_draft_as_seen(
    *,
    automation: Automation,
    seen: str,
    flow: Flow,
    slots: list[dict[str, str]],
    requires: list[str],
    action: str,
    now: datetime,
    by: Actor,
) -> Automation:
    """Replace the whole draft, with the slots and requirements that come with it. Raises `DraftChanged`."""

    def change(automation: Automation) -> Flow:
        automation.slots, automation.requires = slots, requires
        return flow

    automation = _edited(automation, seen, action, change, now=now, by=by)
    automation.save(update_fields=["slots", "requires"])
    return automation


@transaction.atomic
def undo(*, automation: Automation, seen: str, now: datetime, by: Actor) -> Automation:
    """Take the draft's last change back. Raises `NothingToUndo`."""
    return _gone_to(automation, seen, is_undo=True, now=now, by=by)


@transaction.atomic
def redo(*, automation: Automation, seen: str, now: datetime, by: Actor) -> Automation:
    """Make a change again that was undone. Raises `NothingToRedo`."""
    return _gone_to(automation, seen, is_undo=False, now=now, by=by)


def _gone_to(automation: Automation, seen: str, *, is_undo: bool, now: datetime, by: Actor) -> Automation:
    automation = lock_automation(automation)
    _require_seen(automation, seen)
    rows = automation.revisions.order_by("pk")
    current = rows.filter(is_current=True).first()
    beside = current and (rows.filter(pk__lt=current.pk).last() if is_undo else rows.filter(pk__gt=current.pk).first())
    if not current or not beside:
        raise NothingToUndo if is_undo else NothingToRedo
    rows.filter(pk=current.pk).update(is_current=False)
    rows.filter(pk=beside.pk).update(is_current=True)
    replace_draft(automation, beside.flow, now)
    record_automation_activity(automation, "automation.undone" if is_undo else "automation.redone", by)
    return automation


@dataclass(frozen=True, slots=True)
class DraftHistory:
    """The actions that can be undone and made again next; None if there is no such change."""

    undo: str | None = None
    redo: str | None = None


def draft_history(automation: Automation) -> DraftHistory:
    """Give what can be undone and redone, in one statement."""
    rows = list(automation.revisions.order_by("pk").values_list("action", "is_current"))
    at = next((position for position, row in enumerate(rows) if row[1]), None)
    if at is None:
        return DraftHistory()
    return DraftHistory(rows[at][0] if at > 0 else None, rows[at + 1][0] if at + 1 < len(rows) else None)


@transaction.atomic
def publish_seen(*, automation: Automation, seen: str, now: datetime, by: Actor) -> Automation:
    """Publish the draft that the person saw. Raises `DraftChanged`, `FlowRefused`."""
    automation = lock_automation(automation)
    _require_seen(automation, seen)
    problems = publishing_problems(automation)
    if problems:
        raise FlowRefused(problems)
    publish_locked(automation, now=now, by=by)
    return automation


class AutomationChanges(TypedDict, total=False):
    """What can be changed beside the flow. `reentry_days` counts only for the re-entry after some days."""

    name: str
    reentry: str
    reentry_days: int
    stops_on_reply: bool
    stops_on_booking: bool


@transaction.atomic
def change_automation(
    *, automation: Automation, now: datetime, by: Actor, **changes: Unpack[AutomationChanges]
) -> Automation:
    """Change the name, whether a contact may go through again, and whether an answer or a booking ends runs.

    Raises `NameRequired`, `ReentryDaysRequired`.
    """
    automation = lock_automation(automation)
    if "name" in changes:
        changes["name"] = checked_name(changes["name"])
    reentry = changes.get("reentry", automation.reentry)
    if reentry != Automation.Reentry.AFTER:
        changes["reentry_days"] = 0
    elif not 1 <= changes.get("reentry_days", automation.reentry_days) <= MOST_REENTRY_DAYS:
        raise ReentryDaysRequired
    changed = {name: value for name, value in changes.items() if getattr(automation, name) != value}
    if changed:
        made = changes_to(automation, changed)
        for name, value in changed.items():
            setattr(automation, name, value)
        automation.updated_at = now
        automation.save(update_fields=[*changed, "updated_at"])
        record_automation_activity(automation, "automation.settings_changed", by, made)
    return automation


@transaction.atomic
def begin_automation(
    *, workspace: Workspace, name: str, platform: str, trigger: str, now: datetime, by: Actor
) -> Automation:
    """Create an automation with a trigger and a first step that is not filled in yet."""
    declared = TRIGGERS.get(trigger)
    if declared is None or platform not in declared.channels:
        raise TypeNotOffered(field="trigger")
    _require_room(workspace)
    step_id, step_type = f"s{uuid4().hex[:12]}", FIRST_STEPS.get(trigger, "send_text")
    first: Step = {"id": step_id, "type": step_type, "config": {}, "next": {}}
    flow: Flow = {"trigger": {"type": trigger, "config": {}}, "entry": first["id"], "steps": [first]}
    return create_automation(workspace=workspace, name=name, platform=platform, flow=flow, now=now, by=by)


@transaction.atomic
def copy_automation(*, automation: Automation, name: str, platform: str, now: datetime, by: Actor) -> Automation:
    """Copy an automation's draft to a new automation of the same workspace, switched off and not published."""
    source = lock_automation(automation)
    _require_room(source.workspace)
    copied = Automation.objects.create(
        workspace=source.workspace,
        name=checked_name(name),
        platform=platform,
        trigger=source.draft["trigger"]["type"][:40],
        draft=source.draft,
        slots=source.slots,
        reentry=source.reentry,
        reentry_days=source.reentry_days,
        stops_on_reply=source.stops_on_reply,
        stops_on_booking=source.stops_on_booking,
        created_at=now,
        updated_at=now,
    )
    record_automation_activity(copied, "automation.copied", by)
    return copied


def _require_room(workspace: Workspace) -> None:
    if workspace.automations.count() >= MOST_AUTOMATIONS:
        raise TooManyAutomations
