"""API keys of workspaces that are about to expire: the people of the workspace are told."""

from datetime import datetime
from typing import Final

from agency.notification_kinds import NotificationKind
from agency.services.notifications.expiring_keys import LABEL, TEXT, tell_of_expiring_keys, with_time
from agency.services.notifications.states import StateCheck
from agency.tenants import Audience
from workspaces.subaccounts.models import WorkspaceKey
from workspaces.subaccounts.services.recording import tenant_of

WORKSPACE_KEY_EXPIRES: Final = "workspace.api_key_expires"
KINDS: Final = (
    NotificationKind(
        name=WORKSPACE_KEY_EXPIRES,
        label=LABEL,
        text=TEXT,
        url_name="app:api-keys",
        audience=Audience.WORKSPACE,
        words=with_time,
    ),
)


def check_workspace_keys(now: datetime) -> bool:
    """Tell of workspaces' keys that are about to expire."""
    keys = WorkspaceKey.objects.filter(workspace__isnull=False).select_related("workspace")
    return tell_of_expiring_keys(WORKSPACE_KEY_EXPIRES, keys, lambda key: tenant_of(key.workspace), now)


STATE_CHECKS: Final = (StateCheck("API keys of workspaces that expire", check_workspace_keys),)
