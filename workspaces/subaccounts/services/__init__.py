"""Every change of a sub-account: one verb, one function, one transaction."""

from agency.services.keys import KeyNotFound
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
from workspaces.subaccounts.services.keys import (
    TooManyKeys,
    issue_workspace_key,
    revoke_workspace_key,
    roll_workspace_key,
)
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.moving import MoveHandler, move_handlers, move_workspace
from workspaces.subaccounts.services.people.agency_access import (
    AgencyIsSuspended,
    WorkspaceIsSuspended,
    end_access,
    open_as_customer,
)
from workspaces.subaccounts.services.people.member_invitations import (
    invite_workspace_member,
    send_member_invitation_again,
)
from workspaces.subaccounts.services.people.members import (
    AlreadyInTheWorkspace,
    MemberRemovalHandler,
    WorkspaceMemberNotFound,
    member_removal_handlers,
    people_of,
    remove_workspace_member,
    used_seats,
    waiting_invitations,
)
from workspaces.subaccounts.services.people.owners import (
    OwnerHasPassword,
    attach_owner,
    change_owner,
    hand_over_ownership,
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
from workspaces.subaccounts.services.settings.opening_hours import OpeningHoursRefused
from workspaces.subaccounts.services.settings.values import SettingRefused, settings_in_texts
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
    "AgencyIsSuspended",
    "AlreadyInTheWorkspace",
    "ChannelNotFound",
    "DisconnectionHandler",
    "ExternalIdTaken",
    "FirstChannelHandler",
    "KeyNotFound",
    "LimitReached",
    "MemberRemovalHandler",
    "MoveHandler",
    "OpeningHoursRefused",
    "OwnerHasPassword",
    "SettingRefused",
    "SubAccountLimitReached",
    "TooManyKeys",
    "UsageSource",
    "WorkspaceChanges",
    "WorkspaceIsSuspended",
    "WorkspaceMemberNotFound",
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
    "end_access",
    "first_channel_handlers",
    "grant_addon",
    "hand_over_ownership",
    "invite_owner_again",
    "invite_workspace_member",
    "issue_workspace_key",
    "leave_workspace",
    "lock_workspace",
    "mark_channel_lost",
    "member_removal_handlers",
    "move_handlers",
    "move_workspace",
    "open_as_customer",
    "owner_state",
    "people_of",
    "plan_reference",
    "recompute_limits",
    "reconnect_channel",
    "record_sub_account_event",
    "record_workspace_activity",
    "record_workspace_event",
    "remove_workspace_member",
    "replace_owner",
    "require_channel_room",
    "require_room",
    "restore_workspace",
    "revoke_addon",
    "revoke_workspace_key",
    "roll_workspace_key",
    "send_member_invitation_again",
    "settings_in_texts",
    "suspend_workspace",
    "tenant_of",
    "usage",
    "usage_against_limits",
    "usage_sources",
    "used_seats",
    "waiting_invitations",
]
