"""A sub-account's plan, its add-ons, and the limits that follow from both."""

from datetime import datetime

from django.db import transaction

from agency import limits
from agency.actors import Actor
from agency.models import Addon, Plan
from agency.services.activity import limit_changes
from config.errors import InvalidInput, NotFound
from workspaces.subaccounts import events
from workspaces.subaccounts.models import HeldAddon, Workspace
from workspaces.subaccounts.services.recording import (
    addon_reference,
    lock_workspace,
    plan_reference,
    record_sub_account_event,
    record_workspace_activity,
)


class LimitReached(InvalidInput):
    """A write would pass a limit of the sub-account's plan and add-ons."""

    field = "limit"

    def __init__(self, name: str, allowed: int) -> None:
        self.name = name
        label = (limits.SINGULAR_LABELS if allowed == 1 else limits.LABELS)[name]
        super().__init__(f"The plan of this sub-account allows {allowed} {label}.", field=name)


def recompute_limits(workspace: Workspace) -> limits.Limits:
    """Sum the stored limits of the plan and each add-on. Without a plan nothing is limited. Caller holds the lock."""
    plan = limits.unlimited() if workspace.plan_limits is None else workspace.plan_limits
    total = limits.total([plan, *workspace.held_addons.values_list("limits", flat=True)])
    workspace.limits = total
    return total


def check_limit(*, workspace: Workspace, name: str, used: int, adding: int = 1) -> None:
    """Raise `LimitReached` if `adding` more would pass the limit called `name`. Caller holds the workspace's lock."""
    allowed = limits.value(workspace.limits, name)
    if allowed is not None and used + adding > allowed:
        raise LimitReached(name, allowed)


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
    changes = {"plan": (before.name if before else None, plan.name), **limit_changes(limits_before, workspace.limits)}
    details = {"plan": plan_reference(plan)}
    record_workspace_activity(workspace=workspace, action="plan.assigned", by=by, details=details, changes=changes)
    if before != plan:
        record_sub_account_event(workspace=workspace, event=events.SUBSCRIPTION_CHANGED, now=now, plan=plan)
    return workspace


class AddonNotHeld(NotFound):
    message = "Add-on not found."


@transaction.atomic
def grant_addon(*, workspace: Workspace, addon: Addon, now: datetime, by: Actor) -> bool:
    """Grant an add-on and add its limits. Gives False, and changes nothing, if the sub-account holds it already."""
    workspace = lock_workspace(workspace)
    _, granted = HeldAddon.objects.get_or_create(
        workspace=workspace, addon=addon, defaults={"limits": addon.limits, "granted_at": now}
    )
    if granted:
        _apply_addon_change(workspace, addon, events.ADDON_GRANTED, now, by)
    return granted


@transaction.atomic
def revoke_addon(*, workspace: Workspace, addon: Addon, now: datetime, by: Actor) -> None:
    """Revoke an add-on and its limits. Raises `AddonNotHeld` if the sub-account does not hold it."""
    workspace = lock_workspace(workspace)
    removed, _ = HeldAddon.objects.filter(workspace=workspace, addon=addon).delete()
    if not removed:
        raise AddonNotHeld
    _apply_addon_change(workspace, addon, events.ADDON_REVOKED, now, by)


def _apply_addon_change(workspace: Workspace, addon: Addon, event: str, now: datetime, by: Actor) -> None:
    before = workspace.limits
    recompute_limits(workspace)
    workspace.save(update_fields=["limits"])
    details, changes = {"addon": addon_reference(addon)}, limit_changes(before, workspace.limits)
    record_workspace_activity(workspace=workspace, action=event, by=by, details=details, changes=changes)
    record_sub_account_event(workspace=workspace, event=event, now=now, addon=addon)
