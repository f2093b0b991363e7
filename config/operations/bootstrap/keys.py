"""The API keys that a bootstrap issues: a plain one, one with both abilities, and one of the demo workspace."""

from datetime import datetime

from agency.models import Agency, AgencyKey
from agency.services import issue_agency_key, revoke_agency_key
from config.operations.bootstrap.actor import BOOTSTRAP
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services import issue_workspace_key, revoke_workspace_key


def ensure_agency_key(agency: Agency, *, can_copy: bool, rotate: bool, now: datetime) -> str | None:
    """Issue the agency's key with this ability if there never was one, or again with `rotate`; else return None."""
    ours = AgencyKey.objects.filter(agency=agency, can_copy=can_copy, created_by=BOOTSTRAP.label)
    if ours.exists() and not rotate:
        return None
    for key in ours.filter(revoked_at=None):
        revoke_agency_key(key=key, now=now, by=BOOTSTRAP)
    name = "First key, may copy automations and make keys" if can_copy else "First key"
    issued = issue_agency_key(agency=agency, name=name, can_copy=can_copy, can_make_keys=can_copy, by=BOOTSTRAP)
    return issued[1]


def ensure_workspace_key(workspace: Workspace, *, rotate: bool, now: datetime) -> str | None:
    """Issue the workspace's key if there never was one, or again with `rotate`; else return None."""
    ours = WorkspaceKey.objects.filter(workspace=workspace, created_by=BOOTSTRAP.label)
    if ours.exists() and not rotate:
        return None
    for key in ours.filter(revoked_at=None):
        revoke_workspace_key(key=key, now=now, by=BOOTSTRAP)
    return issue_workspace_key(workspace=workspace, name="First key", by=BOOTSTRAP)[1]
