"""Steps of the tests about a workspace's own endpoints, which have no surface of their own yet."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.timezone import now

from agency import tenants
from agency.actors import SYSTEM
from agency.services import record_event
from tests.config.http.receivers import Receiver
from webhooks.models import Endpoint
from webhooks.services import register_endpoint
from workspaces.subaccounts.models import Workspace

EVENT = "contact.created"
DATA = {"contact": {"name": "Ada"}}


def tenant_of(workspace: Workspace) -> tenants.Tenant:
    """The workspace as the outbox knows it."""
    return tenants.Tenant(workspace.agency_id, workspace.pk, workspace.uuid)


def subscribe_workspace(workspace: Workspace, receiver: Receiver, *events: str) -> Endpoint:
    """Register the receiver for a workspace's events."""
    url = f"http://127.0.0.1:{receiver.port}/hooks"
    return register_endpoint(tenant=tenant_of(workspace), url=url, events=events or [EVENT], by=SYSTEM)


def record_for(receiving: Sequence[tenants.Tenant]) -> None:
    """Record an event for each of these tenants."""
    with transaction.atomic():
        for tenant in receiving:
            record_event(tenant=tenant, name=EVENT, data=DATA, now=now())
