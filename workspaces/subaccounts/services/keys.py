"""API keys of a workspace."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.services import record_activity
from config.api.keys import display_prefix, key_digest, new_key
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services.telling import note

WORKSPACE_PREFIX = "svc_"


@transaction.atomic
def issue_workspace_key(*, workspace: Workspace, name: str, by: Actor) -> tuple[WorkspaceKey, str]:
    """Create a key; the second value is its plaintext, which nothing can show again."""
    plaintext = new_key(WORKSPACE_PREFIX)
    key = WorkspaceKey.objects.create(
        workspace=workspace,
        name=name.strip(),
        key_hash=key_digest(plaintext),
        prefix=display_prefix(plaintext),
        created_by=by.label,
    )
    note(workspace=workspace, action="workspace_key.created", by=by, details={"prefix": key.prefix})
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
