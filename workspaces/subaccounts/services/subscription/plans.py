"""The assignment of a plan to a sub-account."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.models import Plan
from agency.services.activity import limit_changes
from workspaces.subaccounts import events
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import (
    plan_reference,
    record_sub_account_event,
    record_workspace_activity,
)
from workspaces.subaccounts.services.subscription.limits import recompute_limits


@transaction.atomic
def assign_plan(*, workspace: Workspace, plan: Plan, now: datetime, by: Actor) -> Workspace:
    """Copy a plan's limits onto a sub-account. The present plan's limits are copied again, without an event.

    A suspension stays.
    """
    workspace = lock_workspace(workspace)
    before = workspace.plan
    if (before, workspace.plan_limits) == (plan, plan.limits):
        return workspace
    limits_before = workspace.limits
    workspace.plan, workspace.plan_limits = plan, plan.limits
    recompute_limits(workspace)
    workspace.save(update_fields=["plan", "plan_limits", "limits"])
    changes = {
        "plan": (before.name if before else None, plan.name),
        **limit_changes(limits_before, workspace.limits),
    }
    details = {"plan": plan_reference(plan)}
    record_workspace_activity(workspace=workspace, action="plan.assigned", by=by, details=details, changes=changes)
    if before != plan:
        record_sub_account_event(workspace=workspace, event=events.SUBSCRIPTION_CHANGED, now=now, plan=plan)
    return workspace
