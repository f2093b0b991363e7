"""Broadcasts that are being sent, with recipients as preparation leaves them."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.db import transaction
from django.utils.timezone import now

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import add_counts, counts_of
from channelconnect.models import SenderRun
from tests.waiting import until
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation
from workspaces.subaccounts.models import Channel

_people = count(1)
TEMPLATE = FrozenMessage(
    template={
        "name": "order_ready",
        "language": "en_US",
        "components": [{"type": "body", "parameters": [{"type": "text", "text": "{{ contact.name }}"}]}],
    },
    variables=("contact.name",),
)
TEXT = FrozenMessage(text="Open late today")


def a_broadcast(channel: Channel, frozen: FrozenMessage = TEMPLATE, **fields: Any) -> Broadcast:
    """A broadcast under way, with nobody in it yet."""
    at = fields.pop("started_at", now())
    values = {"status": "sending", "started_at": at, "last_contact": 2**62, "is_prepared": True, **fields}
    return Broadcast.objects.create(
        workspace=channel.workspace,
        channel=channel,
        name="News",
        message={"text": "News"},
        frozen=frozen.as_json(),
        created_by_kind="system",
        created_by_label="System",
        **values,
    )


def people(channel: Channel, number: int) -> list[Contact]:
    """So many contacts of the channel's workspace, each with a number."""
    first = next(_people) * 1_000_000
    return Contact.objects.bulk_create(
        Contact(
            workspace_id=channel.workspace_id,
            name=f"Person {first + index}",
            phone=f"+49{1_000_000_000 + first + index}",
            search_key="person",
        )
        for index in range(number)
    )


def add_recipients(
    broadcast: Broadcast, contacts: list[Contact], *, due_at: datetime | None = None, kind: str = "phone", **fields: Any
) -> list[Recipient]:
    """Prepare these contacts: they are due at once, or then."""
    at = due_at or now() - timedelta(seconds=1)
    rows = Recipient.objects.bulk_create(
        Recipient(
            broadcast_id=broadcast.pk,
            contact_id=contact.pk,
            due_at=at,
            address_kind=kind,
            address=contact.phone if kind == "phone" else f"9{contact.pk:09d}",
            values=[contact.name],
            created_at=now(),
            **fields,
        )
        for contact in contacts
    )
    add_counts({broadcast.pk: {"pending": len(rows)}})
    known = broadcast.next_due_at
    broadcast.next_due_at = min(at, known) if known else at
    broadcast.save(update_fields=["next_due_at"])
    return rows


def with_recipients(channel: Channel, number: int, frozen: FrozenMessage = TEMPLATE, **fields: Any) -> Broadcast:
    """A broadcast to so many new people."""
    broadcast = a_broadcast(channel, frozen, **fields)
    add_recipients(broadcast, people(channel, number))
    return broadcast


def open_window(channel: Channel, contact: Contact, *, hours_ago: float = 1.0) -> None:
    """Have a contact written so long ago."""
    Conversation.objects.create(
        workspace=channel.workspace,
        channel=channel,
        contact=contact,
        last_inbound_at=now() - timedelta(hours=hours_ago),
    )


def counts(broadcast: Broadcast) -> dict[str, int]:
    """Its counts that are not zero."""
    [found] = counts_of([broadcast]).values()
    return {name: number for name, number in found.items() if number}


def rows_as_counts(broadcast: Broadcast) -> dict[str, int]:
    """What its counts should be: its rows, counted."""
    rows = Recipient.objects.of(broadcast)
    found = {status: rows.filter(status=status).count() for status in Recipient.Status.values}
    found["held"] = rows.filter(stage=Stage.HELD).count()
    found["clicked"] = rows.filter(clicked_at__isnull=False).count()
    return {name: number for name, number in found.items() if number}


def wait_until_nobody_is_claimed() -> None:
    """Wait until nothing of what was paused is out.

    A claim that began before the pause may commit after it. It holds its run's row, so it is waited for.
    """

    def look() -> bool:
        with transaction.atomic():
            list(SenderRun.objects.select_for_update().order_by("number"))
            return not Recipient.objects.filter(stage=Stage.CLAIMED).exists()

    until(look, what="the end of what was being sent")


def has_ended(*broadcasts: Broadcast) -> bool:
    """Whether nobody waits any more."""
    ids = [broadcast.pk for broadcast in broadcasts]
    return not Recipient.objects.filter(broadcast_id__in=ids).exclude(stage=Stage.DONE).exists()
