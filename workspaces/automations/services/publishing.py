"""Publishing, which freezes the draft as a numbered version."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from agency.actors import Actor
from workspaces.automations.flows.checks import problems_of
from workspaces.automations.flows.flow import is_catch_all, requires_of, trigger_digest
from workspaces.automations.flows.problem import Problem
from workspaces.automations.flows.slots import open_slots
from workspaces.automations.models import Automation, AutomationVersion
from workspaces.automations.services.activity import record_automation_activity
from workspaces.automations.services.answering import ANSWERED, save_once_answered
from workspaces.automations.services.errors import FlowRefused
from workspaces.automations.services.locking import lock_automation


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
    """Freeze the draft as the next version, which runs from now on if the automation is on. Raises `FlowRefused`."""
    automation = lock_automation(automation)
    problems = publishing_problems(automation)
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
    automation.trigger_digest, automation.catch_all = trigger_digest(automation.draft), is_catch_all(automation.draft)
    if automation.from_pack is None:
        automation.requires = requires_of(automation.draft)
    automation.updated_at = now
    if not save_once_answered(
        automation, "published", "trigger", "trigger_digest", "catch_all", "requires", "updated_at"
    ):
        raise FlowRefused([Problem(ANSWERED)])
