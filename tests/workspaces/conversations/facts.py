"""Facts as readers of callbacks give them, and their being applied as readers do it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.db import transaction
from django.utils.timezone import now

from workspaces.conversations.facts import (
    ChannelReference,
    EchoReceived,
    MessageReceived,
    Person,
    ReadUpTo,
    StatusChanged,
)
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services import inbound
from workspaces.subaccounts.models import Channel

numbers = count(1)
BEGUN = now().replace(microsecond=0)


def moment(seconds: float = 0) -> datetime:
    """A whole second, so many from when the tests began."""
    return BEGUN + timedelta(seconds=seconds)


def reference(channel: Channel) -> ChannelReference:
    workspace = channel.workspace
    return ChannelReference(
        id=channel.pk,
        platform=channel.platform,
        workspace_id=workspace.pk,
        workspace_uuid=workspace.uuid,
        agency_id=workspace.agency_id,
    )


def person(number: int = 1, **changes: Any) -> Person:
    """Somebody with a German number."""
    digits = f"4915112345{number:03d}"
    return replace(Person(external_id=digits, phone=f"+{digits}", name=f"Person {number}"), **changes)


def received(channel: Channel, **changes: Any) -> MessageReceived:
    """A text of person 1, with an id of its own."""
    values: dict[str, Any] = {
        "channel": reference(channel),
        "person": person(),
        "at": moment(),
        "message_id": f"wamid.{next(numbers)}",
        "type": "text",
        "text": "Hello",
    }
    return MessageReceived(**{**values, **changes})


def echo(channel: Channel, **changes: Any) -> EchoReceived:
    values: dict[str, Any] = {
        "channel": reference(channel),
        "person": person(),
        "at": moment(),
        "message_id": f"wamid.{next(numbers)}",
        "type": "text",
        "text": "From the phone",
    }
    return EchoReceived(**{**values, **changes})


def status(channel: Channel, message_id: str, status: str, **changes: Any) -> StatusChanged:
    values: dict[str, Any] = {"channel": reference(channel), "person": person(), "at": moment()}
    return StatusChanged(**{**values, "message_id": message_id, "status": status, **changes})


def mark(channel: Channel, status: str, at: datetime, **changes: Any) -> ReadUpTo:
    values: dict[str, Any] = {"channel": reference(channel), "person": person(), "at": at, "status": status}
    return ReadUpTo(**{**values, **changes})


def apply(service: Callable[..., Any], *facts: Any) -> Any:
    """Apply facts in one transaction, as a reader does."""
    with transaction.atomic():
        inbound.lock_channels([fact.channel.id for fact in facts])
        return service(facts, now=now())


def receive(*facts: MessageReceived) -> int:
    return int(apply(inbound.receive_messages, *facts))


def a_conversation(channel: Channel) -> Conversation:
    """The one of person 1, who writes where there is none yet."""
    own = Conversation.objects.select_related("contact").filter(channel=channel)
    if not own.exists():
        receive(received(channel))
    return own.get()


def the_conversation() -> Conversation:
    return Conversation.objects.select_related("contact", "channel").get()


def texts_of(conversation: Conversation) -> list[str]:
    """What stands in a conversation, the oldest first."""
    rows: Sequence[Message] = list(Message.objects.filter(conversation=conversation).newest_first())
    return [row.text for row in reversed(rows)]
