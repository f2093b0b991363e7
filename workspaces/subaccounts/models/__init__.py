"""A sub-account and what it owns."""

from workspaces.subaccounts.models.channels import CHANNEL_NAMES, Channel
from workspaces.subaccounts.models.workspaces import HeldAddon, Workspace, WorkspaceKey, WorkspaceMember

__all__ = ["CHANNEL_NAMES", "Channel", "HeldAddon", "Workspace", "WorkspaceKey", "WorkspaceMember"]
