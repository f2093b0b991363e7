"""Topics of conversations and messages: recorded for whoever subscribes, and not at all for nobody."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agency.actors import SYSTEM
from agency.models import Event
from agency.tenants import Tenant as Owner
from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, person, receive, received, status, the_conversation
from tests.workspaces.conversations.sending import record, send, sent
from webhooks.services.endpoints import register_endpoint
from workspaces.conversations.services import inbound

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


def subscribe(a: Tenant, *topics: str) -> None:
    tenant = Owner(a.agency.pk, a.workspace.pk, a.workspace.uuid)
    register_endpoint(tenant=tenant, url="https://93.184.215.14/hooks", events=topics, by=SYSTEM)


def recorded_events(a: Tenant) -> list[tuple[str, dict[str, Any]]]:
    """What the workspace's events say, the oldest first."""
    bodies = Event.objects.filter(workspace_id=a.workspace.pk).order_by("id").values_list("body", flat=True)
    envelopes = [json.loads(bytes(body)) for body in bodies]
    assert all(one["workspace_id"] == str(a.workspace.uuid) for one in envelopes)
    return [(one["event"], one["data"]) for one in envelopes]


def change(a: Tenant, **changes: Any) -> None:
    a.workspace_api.patch(f"/conversations/{the_conversation().uuid}", changes)


def test_a_conversation_tells_how_it_goes(a: Tenant) -> None:
    topics = ("opened", "assigned", "closed", "reopened", "note_added")
    subscribe(a, *[f"conversation.{topic}" for topic in topics])
    receive(received(a.channel), received(a.channel))
    change(a, assigned_to=a.workspace.owner.email)
    change(a, assigned_to=a.workspace.owner.email)
    change(a, status="closed")
    receive(received(a.channel))
    a.workspace_api.post(f"/conversations/{the_conversation().uuid}/notes", {"text": "Regular guest"})
    assert [name.removeprefix("conversation.") for name, _ in recorded_events(a)] == [
        "opened", "assigned", "closed", "reopened", "note_added",
    ]  # fmt: skip
    shown = a.workspace_api.get(f"/conversations/{the_conversation().uuid}").json()["data"]
    opened, assigned, closed, _, noted = [data["conversation"] for _, data in recorded_events(a)]
    assert (opened["id"], opened["unread_count"]) == (shown["id"], 2)
    assert assigned["assigned_to"]["email"] == a.workspace.owner.email
    assert closed["status"] == "closed"
    assert noted == shown
    assert recorded_events(a)[-1][1]["note"]["text"] == "Regular guest"


def test_a_message_tells_how_it_goes(a: Tenant) -> None:
    subscribe(a, *[f"message.{topic}" for topic in ("received", "sent", "delivered", "read", "failed")])
    receive(received(a.channel, text="Hello"))
    message = sent(a)
    ids = [message.provider_message_id or ""] * 2
    apply(
        inbound.apply_statuses,
        *[status(a.channel, one, to) for one, to in zip(ids, ("delivered", "read"), strict=True)],
    )
    apply(inbound.apply_statuses, status(a.channel, ids[0], "delivered"))
    record(send(a, "Another"), "failed", error_code="131026", error_message="Cannot be reached.")
    assert [name for name, _ in recorded_events(a)] == [
        "message.received", "message.sent", "message.delivered", "message.read", "message.failed",
    ]  # fmt: skip
    said = [data["message"] for _, data in recorded_events(a)]
    assert (said[0]["text"], said[0]["status"]) == ("Hello", "received")
    assert {one["id"] for one in said[1:4]} == {str(message.uuid)}
    assert said[4]["error"] == {"code": "131026", "message": "Cannot be reached."}


def test_only_what_is_wanted_is_recorded(a: Tenant, b: Tenant) -> None:
    subscribe(a, "message.received")
    receive(received(a.channel), received(b.channel, person=person(2)))
    assert [name for name, _ in recorded_events(a)] == ["message.received"]
    assert recorded_events(b) == []


def test_nobodys_events_cost_one_statement_for_each_batch(a: Tenant) -> None:
    message = sent(a)
    Event.objects.all().delete()
    with CaptureQueriesContext(connection) as captured:
        apply(inbound.apply_statuses, status(a.channel, message.provider_message_id or "", "read"))
    asked = [query["sql"] for query in captured.captured_queries if "webhooks_" in query["sql"]]
    assert len(asked) == 1
    assert not Event.objects.exists()
