"""Every change of a sub-account: one verb, one function, one transaction."""

from workspaces.subaccounts.services.addons import AddonNotHeld, grant_addon, revoke_addon
from workspaces.subaccounts.services.channels import (
    AccountConnectedElsewhere,
    ChannelNotFound,
    on_first_channel,
    save_channel,
)
from workspaces.subaccounts.services.keys import issue_workspace_key, revoke_workspace_key
from workspaces.subaccounts.services.limits import LimitReached, recompute_limits, require_room, usage
from workspaces.subaccounts.services.payloads import addon_reference, plan_reference, workspace_payload
from workspaces.subaccounts.services.plans import assign_plan
from workspaces.subaccounts.services.provisioning import SubAccountLimitReached, create_workspace
from workspaces.subaccounts.services.workspaces import (
    WorkspaceNotFound,
    change_workspace,
    restore_workspace,
    suspend_workspace,
)

__all__ = [
    "AccountConnectedElsewhere",
    "AddonNotHeld",
    "ChannelNotFound",
    "LimitReached",
    "SubAccountLimitReached",
    "WorkspaceNotFound",
    "addon_reference",
    "assign_plan",
    "change_workspace",
    "create_workspace",
    "grant_addon",
    "issue_workspace_key",
    "on_first_channel",
    "plan_reference",
    "recompute_limits",
    "require_room",
    "restore_workspace",
    "revoke_addon",
    "revoke_workspace_key",
    "save_channel",
    "suspend_workspace",
    "usage",
    "workspace_payload",
]
