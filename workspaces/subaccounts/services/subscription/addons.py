"""The add-ons that a sub-account holds."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.models import Addon
from agency.services.activity import limit_changes
from config.errors import NotFound
from workspaces.subaccounts import events
from workspaces.subaccounts.models import HeldAddon, Workspace
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import (
    addon_reference,
    record_sub_account_event,
    record_workspace_activity,
)
from workspaces.subaccounts.services.subscription.limits import recompute_limits


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
        _settle(workspace, addon, events.ADDON_GRANTED, now, by)
    return granted


@transaction.atomic
def revoke_addon(*, workspace: Workspace, addon: Addon, now: datetime, by: Actor) -> None:
    """Revoke an add-on and its limits. Raises `AddonNotHeld` if the sub-account does not hold it."""
    workspace = lock_workspace(workspace)
    removed, _ = HeldAddon.objects.filter(workspace=workspace, addon=addon).delete()
    if not removed:
        raise AddonNotHeld
    _settle(workspace, addon, events.ADDON_REVOKED, now, by)


def _settle(workspace: Workspace, addon: Addon, event: str, now: datetime, by: Actor) -> None:
    before = workspace.limits
    recompute_limits(workspace)
    workspace.save(update_fields=["limits"])
    details, changes = {"addon": addon_reference(addon)}, limit_changes(before, workspace.limits)
    record_workspace_activity(workspace=workspace, action=event, by=by, details=details, changes=changes)
    record_sub_account_event(workspace=workspace, event=event, now=now, addon=addon)
