"""A sub-account and what it owns."""

from workspaces.subaccounts.models.channels import CHANNEL_NAMES, Channel
from workspaces.subaccounts.models.keys import WorkspaceKey
from workspaces.subaccounts.models.members import WorkspaceMember
from workspaces.subaccounts.models.workspaces import HeldAddon, Workspace

__all__ = [
    "CHANNEL_NAMES",
    "Channel",
    "HeldAddon",
    "Workspace",
    "WorkspaceKey",
    "WorkspaceMember",
]
