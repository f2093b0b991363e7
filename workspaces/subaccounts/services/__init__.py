"""Every change of a sub-account: one verb, one function, one transaction."""

from workspaces.subaccounts.services.addons import AddonNotHeld, grant_addon, revoke_addon
from workspaces.subaccounts.services.channels import (
    AccountConnectedElsewhere,
    ChannelNotFound,
    FirstChannelHandler,
    connect_channel,
    first_channel_handlers,
    mark_channel_lost,
    reconnect_channel,
    require_channel_room,
)
from workspaces.subaccounts.services.keys import issue_workspace_key, revoke_workspace_key
from workspaces.subaccounts.services.limits import LimitReached, recompute_limits, require_room, usage
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.opening_hours import OpeningHoursRefused
from workspaces.subaccounts.services.plans import assign_plan
from workspaces.subaccounts.services.provisioning import SubAccountLimitReached, create_workspace
from workspaces.subaccounts.services.recording import (
    addon_reference,
    plan_reference,
    record_workspace_activity,
    record_workspace_event,
)
from workspaces.subaccounts.services.settings import SettingRefused, settings_in_texts
from workspaces.subaccounts.services.workspaces import (
    WorkspaceChanges,
    WorkspaceNotFound,
    change_workspace,
    replace_owner,
    restore_workspace,
    suspend_workspace,
)

__all__ = [
    "AccountConnectedElsewhere",
    "AddonNotHeld",
    "ChannelNotFound",
    "FirstChannelHandler",
    "LimitReached",
    "OpeningHoursRefused",
    "SettingRefused",
    "SubAccountLimitReached",
    "WorkspaceChanges",
    "WorkspaceNotFound",
    "addon_reference",
    "assign_plan",
    "change_workspace",
    "connect_channel",
    "create_workspace",
    "first_channel_handlers",
    "grant_addon",
    "issue_workspace_key",
    "lock_workspace",
    "mark_channel_lost",
    "plan_reference",
    "recompute_limits",
    "reconnect_channel",
    "record_workspace_activity",
    "record_workspace_event",
    "replace_owner",
    "require_channel_room",
    "require_room",
    "restore_workspace",
    "revoke_addon",
    "revoke_workspace_key",
    "settings_in_texts",
    "suspend_workspace",
    "usage",
]
