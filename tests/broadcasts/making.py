"""Broadcasts to test with, made over the API, and moved where only sending would bring them."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import add_counts
from tests.factories import BODY_PARAMETER, a_message_template
from tests.tenants import Tenant
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel

EVERYBODY = {"type": "segment", "segment": "all"}
PARAMETERS = {
    "text": {"component": "header", "index": 1, "name": None, "type": "text", "example": None},
    "image": {"component": "header", "index": 1, "name": None, "type": "image", "example": None},
    "video": {"component": "header", "index": 1, "name": None, "type": "video", "example": None},
    "document": {"component": "header", "index": 1, "name": None, "type": "document", "example": None},
    "body": BODY_PARAMETER,
    "url": {"component": "button", "index": 0, "name": None, "type": "url", "example": None},
}


def a_template(channel: Channel, *parameters: str, name: str = "summer_sale", status: str = "approved") -> str:
    """A template of the channel's account whose parts take these parameters; gives its name."""
    a_message_template(
        channel,
        text="Hello {{1}}, the sale begins." if "body" in parameters else "The sale begins.",
        name=name,
        language="en_US",
        status=status,
        parameters=[PARAMETERS[one] for one in parameters],
    )
    return name


def a_body(a: Tenant, **changes: Any) -> dict[str, Any]:
    """A broadcast to everybody, in free text."""
    body = {"name": "Sale", "channel": str(a.channel.uuid), "audience": EVERYBODY, "message": {"text": "Hello"}}
    return {**body, **changes}


def create(a: Tenant, **changes: Any) -> dict[str, Any]:
    """Create a broadcast and give the answer's data."""
    answer = a.workspace_api.post("/broadcasts", a_body(a, **changes))
    assert answer.status_code == 201, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def row_of(shown: dict[str, Any]) -> Broadcast:
    return Broadcast.objects.get(uuid=shown["id"])


def bring_to(shown: dict[str, Any], status: str) -> Broadcast:
    """Bring a draft into a state as sending would: each state after Scheduled has begun."""
    moment = now()
    changes: dict[str, Any] = {"status": status}
    if status != "Draft":
        changes |= {"due_at": moment, "counted_at": moment}
    if status in ("sending", "paused", "sent"):
        changes |= {"started_at": moment, "frozen": {}, "last_contact": 0, "is_prepared": True}
    if status in ("sent", "cancelled"):
        changes["completed_at"] = moment
    Broadcast.objects.filter(uuid=shown["id"]).update(**changes)
    return row_of(shown)


def some_contacts(a: Tenant, number: int) -> list[Contact]:
    return Contact.objects.bulk_create(
        Contact(workspace=a.workspace, name=f"Person {one}", search_key="", phone=f"+49301{uuid4().int % 10**8:08}")
        for one in range(number)
    )


def prepare(broadcast: Broadcast, contacts: list[Contact], **values: Any) -> list[Recipient]:
    """Write recipients as preparation does, all alike, with their counts."""
    moment = now()
    defaults: dict[str, Any] = {"stage": Stage.READY, "status": "pending", "due_at": moment, "created_at": moment}
    if values.get("status") == "failed":
        defaults["failed_at"] = moment
    rows = [
        Recipient(broadcast_id=broadcast.pk, contact_id=one.pk, address=one.phone, address_kind="phone")
        for one in contacts
    ]
    for row in rows:
        for name, value in (defaults | values).items():
            setattr(row, name, value)
    Recipient.objects.bulk_create(rows)
    counts = {str((defaults | values)["status"]): len(rows)}
    if (defaults | values)["stage"] == Stage.HELD:
        counts["held"] = len(rows)
    add_counts({broadcast.pk: counts})
    return rows


def in_an_hour() -> Any:
    return now() + timedelta(hours=1)
