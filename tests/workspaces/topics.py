"""What a workspace's own endpoints are told, read from the outbox."""

import json
from typing import Any

from agency.actors import SYSTEM
from agency.models import Event
from tests.webhooks.workspaces import tenant_of
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.models import Workspace


def subscribe_to(workspace: Workspace, *topics: str) -> None:
    """Let an endpoint of the workspace want these topics; nothing is delivered to it."""
    url = "https://93.184.215.14/hooks"
    register_endpoint(tenant=tenant_of(workspace), url=url, events=topics, by=SYSTEM)


def envelopes(workspace: Workspace) -> list[dict[str, Any]]:
    """The envelopes of the workspace's own events, oldest first."""
    bodies = Event.objects.filter(workspace_id=workspace.pk).order_by("id").values_list("body", flat=True)
    return [json.loads(bytes(body)) for body in bodies]


def recorded_events(workspace: Workspace) -> list[tuple[str, dict[str, Any]]]:
    """Each event's topic and data."""
    return [(envelope["event"], envelope["data"]) for envelope in envelopes(workspace)]
