"""A sub-account and what it owns."""

from workspaces.models.automations import Automation, AutomationVersion, Readiness
from workspaces.models.channels import Channel
from workspaces.models.keys import WorkspaceKey
from workspaces.models.workspaces import HeldAddon, Workspace

__all__ = [
    "Automation",
    "AutomationVersion",
    "Channel",
    "HeldAddon",
    "Readiness",
    "Workspace",
    "WorkspaceKey",
]
