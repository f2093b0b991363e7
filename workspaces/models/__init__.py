"""A sub-account and what it owns."""

from workspaces.models.channels import Channel
from workspaces.models.keys import WorkspaceKey
from workspaces.models.workspaces import HeldAddon, Workspace

__all__ = ["Channel", "HeldAddon", "Workspace", "WorkspaceKey"]
