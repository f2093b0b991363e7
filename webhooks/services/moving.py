"""Moves a workspace's endpoints to another agency along with the workspace."""

from datetime import datetime

from agency.actors import Actor
from agency.models import Agency
from config.db import CurrentTransaction
from webhooks.models import Endpoint
from webhooks.services.holding import release_of_workspace
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.workspaces import MoveHandler


def _move_endpoints(workspace: Workspace, target: Agency, now: datetime, by: Actor) -> None:
    """Move the endpoints, also removed ones. Deliveries are found by their workspace and do not change."""
    Endpoint.objects.filter(agency=workspace.agency_id, workspace_id=workspace.pk).update(
        agency=target, edited_in=CurrentTransaction()
    )
    release_of_workspace(workspace.pk)


ENDPOINTS = MoveHandler("endpoints", _move_endpoints)
