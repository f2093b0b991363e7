"""Broadcasts that have begun, with recipients as preparation writes them."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient, Stage, Wave
from broadcasts.services.costs import Billed, add_billed
from broadcasts.services.counts import add_counts
from broadcasts.services.editing import create_broadcast
from tests.factories import ChannelFactory, ContactFactory
from workspaces.subaccounts.models import Channel, Workspace


def a_broadcast(
    workspace: Workspace | None = None, *, text: str = "Hello", frozen: FrozenMessage | None = None, **values: Any
) -> Broadcast:
    """A broadcast that is being sent."""
    channel = values.pop("channel", None) or ChannelFactory.create(**({"workspace": workspace} if workspace else {}))
    message = frozen or FrozenMessage(text=text)
    begun: dict[str, Any] = {
        "name": "Autumn sale",
        "status": "sending",
        "message": a_message(text),
        "audience": {"type": "segment", "segment": "all"},
        "created_by_kind": "user",
        "created_by_label": "Owner",
        "started_at": now(),
        "frozen": message.as_json(),
        "last_contact": 0,
        "is_prepared": True,
    }
    return Broadcast.objects.create(workspace=channel.workspace, channel=channel, **(begun | values))


def a_recipient(broadcast: Broadcast, values: Sequence[str] | None = None, **changes: Any) -> Recipient:
    """A recipient of a broadcast who has been sent to."""
    contact = changes.pop("contact", None) or ContactFactory.create(workspace=broadcast.workspace)
    sent: dict[str, Any] = {"stage": Stage.DONE, "status": "sent", "due_at": now(), "created_at": now()}
    if changes.get("status") == "failed":
        sent["failed_at"] = now()
    return Recipient.objects.create(
        broadcast_id=broadcast.pk,
        contact_id=contact.pk,
        values=list(values) if values else None,
        **(sent | {"address": f"+4915{contact.pk:09d}", "address_kind": "phone"} | changes),
    )


def a_message(text: str) -> dict[str, Any]:
    """A text of one's own as it is kept."""
    empty: dict[str, Any] = {"template": None, "language": None, "components": [], "header": None}
    return {**empty, "text": text, "track_clicks": True}


def a_draft(channel: Channel, *, name: str = "Autumn sale", text: str = "Hello", **fields: Any) -> Broadcast:
    """A draft to everybody."""
    wanted = {"audience": {"type": "segment", "segment": "all"}, "message": {"text": text}} | fields
    return create_broadcast(workspace=channel.workspace, channel=channel, name=name, now=now(), by=SYSTEM, **wanted)


def a_busy_broadcast(channel: Channel, *, name: str = "Autumn sale", words: str = "Out of order.") -> Broadcast:
    """A paused one with recipients of every status, waves, held ones, clicks, and something billed."""
    broadcast = a_broadcast(channel=channel, name=name, status="paused", paused_reason=words, recipients_count=6)
    for status in ("pending", "sent", "delivered", "read"):
        a_recipient(broadcast, status=status, sent_at=None if status == "pending" else now(), clicked_at=now())
    a_recipient(broadcast, status="failed", error_code="131026", error_message=words)
    a_recipient(broadcast, status="skipped", skip_reason="opted_out", address=None)
    counts = dict.fromkeys(("pending", "sent", "delivered", "read", "failed", "skipped", "held", "clicked"), 1)
    add_counts({broadcast.pk: counts})
    for number in range(38):
        due = now() + timedelta(hours=number)
        Wave.objects.create(broadcast=broadcast, due_at=due, total=number * 100 + 1, timezones=["UTC"])
    add_billed({Billed(broadcast.pk, date(2026, 11, 1), "marketing", "DE", True): 2})
    return broadcast
