"""Broadcasts that have begun, with recipients as preparation writes them."""

from collections.abc import Sequence
from typing import Any

from django.utils.timezone import now

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient, Stage
from tests.factories import ChannelFactory, ContactFactory
from workspaces.subaccounts.models import Workspace


def a_broadcast(
    workspace: Workspace | None = None, *, text: str = "Hello", frozen: FrozenMessage | None = None, **values: Any
) -> Broadcast:
    """A broadcast that is being sent."""
    channel = values.pop("channel", None) or ChannelFactory.create(**({"workspace": workspace} if workspace else {}))
    message = frozen or FrozenMessage(text=text)
    begun: dict[str, Any] = {
        "name": "Autumn sale",
        "status": "sending",
        "message": {"text": text, "track_clicks": True},
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
        address=f"+4915{contact.pk:09d}",
        address_kind="phone",
        values=list(values) if values else None,
        **(sent | changes),
    )
