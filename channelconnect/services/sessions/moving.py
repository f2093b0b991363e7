"""Ends open connections when their workspace moves to another agency."""

from datetime import datetime

from agency.actors import Actor
from agency.models import Agency
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.ending import cancel_session
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.workspaces import MoveHandler


def _cancel_open(workspace: Workspace, target: Agency, now: datetime, by: Actor) -> None:
    """Cancel the old agency's open sessions, because they lead back to a page of that agency."""
    for session in ConnectSession.objects.open().filter(workspace=workspace).select_related("workspace"):
        cancel_session(session=session, now=now, by=by)


CONNECTIONS = MoveHandler("connections", _cancel_open)
