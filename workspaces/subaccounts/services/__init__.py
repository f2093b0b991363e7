"""Every change of a sub-account: one verb, one function, one transaction."""

from workspaces.subaccounts.services.channels import (
    AccountConnectedElsewhere,
    ChannelNotFound,
    DisconnectionHandler,
    FirstChannelHandler,
    change_channel_limit,
    connect_channel,
    disconnect_channel,
    disconnection_handlers,
    first_channel_handlers,
    mark_channel_lost,
    reconnect_channel,
    require_channel_room,
)
from workspaces.subaccounts.services.keys import KeyNotFound, TooManyKeys, issue_workspace_key, revoke_workspace_key
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.opening_hours import OpeningHoursRefused
from workspaces.subaccounts.services.owners import (
    OwnerHasPassword,
    attach_owner,
    change_owner,
    invite_owner_again,
    leave_workspace,
    owner_state,
    replace_owner,
)
from workspaces.subaccounts.services.provisioning import SubAccountLimitReached, create_workspace
from workspaces.subaccounts.services.recording import (
    addon_reference,
    plan_reference,
    record_sub_account_event,
    record_workspace_activity,
    record_workspace_event,
    tenant_of,
)
from workspaces.subaccounts.services.settings import SettingRefused, settings_in_texts
from workspaces.subaccounts.services.subscription.addons import AddonNotHeld, grant_addon, revoke_addon
from workspaces.subaccounts.services.subscription.limits import LimitReached, recompute_limits, require_room
from workspaces.subaccounts.services.subscription.plans import assign_plan
from workspaces.subaccounts.services.subscription.usage import UsageSource, usage, usage_against_limits, usage_sources
from workspaces.subaccounts.services.workspaces import (
    ExternalIdTaken,
    WorkspaceChanges,
    WorkspaceNotFound,
    change_workspace,
    restore_workspace,
    suspend_workspace,
)

__all__ = [
    "AccountConnectedElsewhere",
    "AddonNotHeld",
    "ChannelNotFound",
    "DisconnectionHandler",
    "ExternalIdTaken",
    "FirstChannelHandler",
    "KeyNotFound",
    "LimitReached",
    "OpeningHoursRefused",
    "OwnerHasPassword",
    "SettingRefused",
    "SubAccountLimitReached",
    "TooManyKeys",
    "UsageSource",
    "WorkspaceChanges",
    "WorkspaceNotFound",
    "addon_reference",
    "assign_plan",
    "attach_owner",
    "change_channel_limit",
    "change_owner",
    "change_workspace",
    "connect_channel",
    "create_workspace",
    "disconnect_channel",
    "disconnection_handlers",
    "first_channel_handlers",
    "grant_addon",
    "invite_owner_again",
    "issue_workspace_key",
    "leave_workspace",
    "lock_workspace",
    "mark_channel_lost",
    "owner_state",
    "plan_reference",
    "recompute_limits",
    "reconnect_channel",
    "record_sub_account_event",
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
    "tenant_of",
    "usage",
    "usage_against_limits",
    "usage_sources",
]
