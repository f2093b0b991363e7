"""API keys of a workspace."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.services import record_activity
from config.api.keys import display_prefix, key_digest, new_key
from config.errors import Forbidden, NotFound
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import record_workspace_activity

WORKSPACE_PREFIX = "svc_"
MOST_KEYS = 50


class KeyNotFound(NotFound):
    message = "API key not found."


class TooManyKeys(Forbidden):
    message = f"A workspace has at most {MOST_KEYS} live API keys. Revoke one first."


@transaction.atomic
def issue_workspace_key(*, workspace: Workspace, name: str, by: Actor) -> tuple[WorkspaceKey, str]:
    """Create a key; the second value is its plaintext, which nothing can show again. Raises `TooManyKeys`."""
    lock_workspace(workspace)
    if WorkspaceKey.objects.filter(workspace=workspace, revoked_at=None).count() >= MOST_KEYS:
        raise TooManyKeys
    plaintext = new_key(WORKSPACE_PREFIX)
    key = WorkspaceKey.objects.create(
        workspace=workspace,
        name=name.strip(),
        key_hash=key_digest(plaintext),
        prefix=display_prefix(plaintext),
        created_by=by.label,
    )
    record_workspace_activity(
        workspace=workspace, action="workspace_key.created", by=by, details={"prefix": key.prefix}
    )
    return key, plaintext


@transaction.atomic
def revoke_workspace_key(*, key: WorkspaceKey, now: datetime, by: Actor) -> bool:
    """Revoke a key for good: the next call with it answers 401. Says whether anything changed."""
    changed = WorkspaceKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
    if changed:
        record_activity(
            by=by,
            action="workspace_key.revoked",
            agency_id=key.workspace.agency_id if key.workspace else None,
            workspace_uuid=key.workspace.uuid if key.workspace else None,
            target=("workspace_key", key.uuid, key.name),
        )
    key.refresh_from_db()
    return bool(changed)
