"""Publishing freezes the draft as a numbered version."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from agency.actors import Actor
from workspaces.automations.flows.flow import Problem, requires_of
from workspaces.automations.flows.graph import problems_of
from workspaces.automations.flows.slots import open_slots
from workspaces.automations.models import Automation, AutomationVersion
from workspaces.automations.services.errors import FlowRefused
from workspaces.automations.services.notes import lock_automation, note_automation


def what_keeps_from_publishing(automation: Automation) -> list[Problem]:
    """Judge the draft and its slots; nothing if it may be published."""
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
    problems = what_keeps_from_publishing(automation)
    if problems:
        raise FlowRefused(problems)
    publish_locked(automation, now=now, by=by)
    return automation


def publish_locked(automation: Automation, *, now: datetime, by: Actor) -> None:
    """Publish a draft that was judged; the caller holds its lock. An installed one keeps its pack's requirements."""
    newest = automation.versions.aggregate(newest=Max("number"))["newest"] or 0
    automation.published = AutomationVersion.objects.create(
        automation=automation, number=newest + 1, flow=automation.draft, published_at=now, published_by=by.label
    )
    automation.trigger = automation.draft["trigger"]["type"]
    if automation.from_pack is None:
        automation.requires = requires_of(automation.draft)
    automation.updated_at = now
    automation.save(update_fields=["published", "trigger", "requires", "updated_at"])
    note_automation(automation, "automation.published", by, version=newest + 1)
