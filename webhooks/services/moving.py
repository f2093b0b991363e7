"""What a move to another agency means for a workspace's own webhooks."""

from datetime import datetime

from agency.actors import Actor
from agency.models import Agency
from config.db import CurrentTransaction
from webhooks.models import Endpoint
from webhooks.services.holding import release_of_workspace
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.moving import MoveHandler


def _move_endpoints(workspace: Workspace, target: Agency, now: datetime, by: Actor) -> None:
    """Take the endpoints along, removed ones too; deliveries are found by their workspace and stay as they are."""
    Endpoint.objects.filter(agency=workspace.agency_id, workspace_id=workspace.pk).update(
        agency=target, edited_in=CurrentTransaction()
    )
    release_of_workspace(workspace.pk)


ENDPOINTS = MoveHandler("endpoints", _move_endpoints)
