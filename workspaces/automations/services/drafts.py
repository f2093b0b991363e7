"""Creates, installs, edits, publishes and removes automations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from unicodedata import category
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes
from config.db import violated_constraint
from workspaces.automations.flows.availability import reasons_unavailable
from workspaces.automations.flows.checks import Problem, problems_of, structure_problems
from workspaces.automations.flows.flow import (
    Flow,
    NoSuchSlot,
    SlotKey,
    fill_in,
    is_catch_all,
    is_same_but_for_slots,
    open_slots,
    requires_of,
    retitled_slots,
    trigger_digest,
)
from workspaces.automations.models import Automation, AutomationVersion
from workspaces.automations.services.conflicts import CONFLICT, save_unless_conflict
from workspaces.automations.services.errors import (
    AutomationNotFound,
    FlowRefused,
    NameRequired,
    SlotNotFound,
    SlotRefused,
)
from workspaces.automations.services.reminders import plan_reminders_of
from workspaces.subaccounts.models import Workspace


def record_automation_activity(
    automation: Automation, action: str, by: Actor, changes: Changes | None = None, **details: object
) -> None:
    """Add an entry about an automation to the agency's and the sub-account's activity."""
    workspace = automation.workspace
    record_activity(
        by=by,
        action=action,
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("automation", automation.uuid, automation.name),
        details=details,
        changes=changes,
    )


def lock_automation(automation: Automation) -> Automation:
    """Lock the row and read it anew, with its workspace. The caller must be in a transaction.

    All services take the lock here. Raises `AutomationNotFound` if it was removed meanwhile.
    """
    rows = Automation.objects.select_for_update(of=("self",), no_key=True).select_related("workspace", "published")
    locked: Automation | None = rows.filter(pk=automation.pk).first()
    if locked is None:
        raise AutomationNotFound
    return locked


def publishing_problems(automation: Automation) -> list[Problem]:
    """Give the problems of the draft and its open slots, which keep it from being published."""
    problems = problems_of(automation.draft, platform=automation.platform)
    if any(not problem.empty for problem in problems):
        return problems
    return problems + [
        Problem(f"{slot['step']}: {slot['label']} is not filled in.", node=slot["node"], empty=True)
        for slot in open_slots(automation.draft, automation.slots)
    ]


@transaction.atomic
def publish_automation(*, automation: Automation, now: datetime, by: Actor) -> Automation:
    """Freeze the draft as the next version, which runs from now on if the automation is on.

    Raises `FlowRefused`, also for a flow that the product cannot run if the automation is on.
    """
    automation = lock_automation(automation)
    problems = publishing_problems(automation)
    if automation.enabled and not problems:
        problems = [Problem(reason) for reason in reasons_unavailable(automation.draft, automation.platform)]
    if problems:
        raise FlowRefused(problems)
    publish_locked(automation, now=now, by=by)
    return automation


def publish_locked(automation: Automation, *, now: datetime, by: Actor) -> None:
    """Publish a draft that was checked. The caller holds the automation's lock.

    Raises `FlowRefused` if another automation that is on answers the same.
    """
    freeze_draft(automation, now=now, by=by)
    version = automation.published_version
    record_automation_activity(automation, "automation.published", by, version=version)


def freeze_draft(automation: Automation, *, now: datetime, by: Actor) -> None:
    """Make the draft the next version, without an activity entry.

    An automation from a pack keeps the pack's requirements. Raises `FlowRefused` if another automation that is on
    answers the same.
    """
    newest = automation.versions.aggregate(newest=Max("number"))["newest"] or 0
    automation.published = AutomationVersion.objects.create(
        automation=automation, number=newest + 1, flow=automation.draft, published_at=now, published_by=by.label
    )
    automation.trigger = automation.draft["trigger"]["type"]
    automation.trigger_digest = trigger_digest(automation.draft["trigger"])
    automation.catch_all = is_catch_all(automation.draft)
    if automation.from_pack is None:
        automation.requires = requires_of(automation.draft)
    automation.updated_at = now
    if not save_unless_conflict(
        automation, "published", "trigger", "trigger_digest", "catch_all", "requires", "updated_at"
    ):
        raise FlowRefused([Problem(CONFLICT)])
    plan_reminders_of(automation, now=now)


LONGEST_NAME = 120
# Unicode categories of control characters, such as NUL, and of lone surrogates.
UNWRITABLE = frozenset({"Cc", "Cs"})


def checked_name(name: str) -> str:
    """Give the name trimmed. Raises `NameRequired`."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or any(category(character) in UNWRITABLE for character in name):
        raise NameRequired
    return name


def require_structure(flow: object) -> None:
    """Raise `FlowRefused` for a flow that cannot be stored, even as a draft."""
    problems = list(structure_problems(flow))
    if problems:
        raise FlowRefused(problems)


@transaction.atomic
def create_automation(
    *, workspace: Workspace, name: str, platform: str, flow: Flow, now: datetime, by: Actor
) -> Automation:
    """Create an automation with a draft. Raises `FlowRefused`, `NameRequired`."""
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
    store_draft(automation, flow, action="automation.draft_saved", now=now, by=by)
    record_automation_activity(automation, "automation.draft_saved", by)
    return automation


@transaction.atomic
def rename_automation(*, automation: Automation, name: str, now: datetime, by: Actor) -> Automation:
    """Rename an automation. Raises `NameRequired`."""
    automation = lock_automation(automation)
    before = automation.name
    automation.name, automation.updated_at = checked_name(name), now
    automation.save(update_fields=["name", "updated_at"])
    record_automation_activity(automation, "automation.renamed", by, {"name": (before, automation.name)})
    return automation


@transaction.atomic
def fill_slots(*, automation: Automation, values: Mapping[SlotKey, object], now: datetime, by: Actor) -> Automation:
    """Fill slots of an installed copy, by node and path. When the last one is filled, the flow is published.

    A draft with other changes that are not published yet is only stored.
    Raises `SlotRefused` for an invalid value, and `SlotNotFound` for a node and path without a slot.
    """
    automation = lock_automation(automation)
    slots = {(slot["node"], slot["path"]): slot for slot in automation.slots}
    try:
        flow = fill_in(automation.draft, values)
    except NoSuchSlot as error:
        raise SlotNotFound from error
    if not values.keys() <= slots.keys():
        raise SlotNotFound
    require_structure(flow)
    problems = problems_of(flow, platform=automation.platform)
    _refuse_invalid_values(problems, values, slots)
    has_other_changes = has_unpublished_changes(automation, besides=automation.slots)
    store_draft(automation, flow, action="automation.slots_filled", now=now, by=by)
    record_automation_activity(automation, "automation.slots_filled", by, slots=len(values))
    if not problems and not open_slots(flow, automation.slots) and not has_other_changes:
        publish_locked(automation, now=now, by=by)
    return automation


def _refuse_invalid_values(
    problems: list[Problem], values: Mapping[SlotKey, object], slots: dict[SlotKey, dict[str, str]]
) -> None:
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


def has_unpublished_changes(automation: Automation, *, besides: Iterable[dict[str, str]] = ()) -> bool:
    """Say whether the draft differs from the published version in more than the values of these slots."""
    published = automation.published
    return published is not None and not is_same_but_for_slots(automation.draft, published.flow, besides)


def store_draft(automation: Automation, flow: Flow, *, action: str, now: datetime, by: Actor) -> None:
    """Replace the draft, and keep the one before for undoing. The caller holds the automation's lock."""
    record_revision(automation, flow, action=action, now=now, by=by)
    replace_draft(automation, flow, now)


def replace_draft(automation: Automation, flow: Flow, now: datetime) -> None:
    automation.draft, automation.updated_at = flow, now
    automation.slots = retitled_slots(flow, automation.slots)
    if automation.published is None:
        automation.trigger = flow["trigger"]["type"][:40]
    automation.save(update_fields=["draft", "slots", "updated_at", "trigger"])


# The draft of an automation can be taken back by so many changes.
MOST_REVISIONS = 50


def record_revision(automation: Automation, flow: Flow, *, action: str, now: datetime, by: Actor) -> None:
    """Add the draft's next state, drop the changes that were undone before it, and keep the newest states only."""
    rows = automation.revisions
    current = rows.filter(is_current=True).values_list("pk", flat=True).first()
    if current is None:
        rows.create(flow=automation.draft, created_at=now)
    else:
        rows.filter(pk__gt=current).delete()
        rows.filter(pk=current).update(is_current=False)
    rows.create(flow=flow, action=action, is_current=True, created_at=now, created_by=by.label)
    oldest = rows.order_by("-pk").values_list("pk", flat=True)[MOST_REVISIONS - 1 :][:1]
    rows.filter(pk__lt=oldest).delete()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The pack and entry that an automation comes from. `original` is the library's id, or a digest of the copy."""

    pack: UUID
    entry: UUID
    pack_name: str = ""
    original: str = ""


def install_automation(
    *,
    workspace: Workspace,
    origin: Origin,
    name: str,
    platform: str,
    flow: Flow,
    slots: list[dict[str, str]],
    requires: list[str],
    now: datetime,
    by: Actor,
) -> Automation | None:
    """Add an automation, switched off. Gives None if its entry is installed already.

    It is published at once if it has no open slots or other problems. The caller must be in a transaction, hold the
    workspace's lock and record all installed automations in one activity entry.
    """
    try:
        with transaction.atomic():
            automation = Automation.objects.create(
                workspace=workspace,
                name=name,
                platform=platform,
                trigger=flow["trigger"]["type"],
                draft=flow,
                slots=slots,
                requires=requires,
                from_pack=origin.pack,
                from_entry=origin.entry,
                from_pack_name=origin.pack_name,
                from_original=origin.original,
                created_at=now,
                updated_at=now,
            )
    except IntegrityError as error:
        if violated_constraint(error) != "automation_installed_once":
            raise
        return None
    if not publishing_problems(automation):
        freeze_draft(automation, now=now, by=by)
    return automation
