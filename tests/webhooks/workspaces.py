"""Steps of the tests about a workspace's own endpoints, which have no surface of their own yet."""

from collections.abc import Sequence

import pytest
from django.db import transaction
from django.utils.timezone import now

from agency import event_types, tenants
from agency.actors import SYSTEM
from agency.event_types import EventType
from agency.services import record_event
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from config.hooks import Registry
from tests.config.http.receivers import Receiver
from tests.document import recording
from webhooks.models import Endpoint
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.models import Workspace

EVENT, SCARCE = "visitor.created", "visitor.opened"
DATA = {"contact": {"name": "Ada"}}


class ContactSerializer(Serializer):
    name = CharField(example="Ada")


class ContactEventSerializer(Serializer):
    """A contact, as an event of a workspace would carry it."""

    contact = ContactSerializer()


def _contact_event(name: str, *, only_if_subscribed: bool = False) -> EventType:
    return EventType(
        name=name,
        label=name,
        group="Contacts",
        audience=tenants.Audience.WORKSPACE,
        serializer=ContactEventSerializer,
        only_if_subscribed=only_if_subscribed,
    )


def declare_contact_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare events of workspaces, none of which fires one yet; `SCARCE` is recorded for subscribers only."""
    declared = Registry[EventType](
        "event types of the test", called="by the test", transaction="none", failure="fails the test"
    )
    declared.add(*event_types.event_types, _contact_event(EVENT), _contact_event(SCARCE, only_if_subscribed=True))
    monkeypatch.setattr(event_types, "event_types", declared)
    recording.declared_by_tests.update((EVENT, SCARCE))


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
