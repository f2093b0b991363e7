"""Messages that go out, and what the sender and the networks tell of them."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.timezone import now

from channelconnect.models import MessageTemplate
from tests.factories import a_message_template
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import receive, received, the_conversation
from workspaces.conversations.models import Message
from workspaces.conversations.services.send_results import SendResult, record_send_results
from workspaces.subaccounts.models import Channel


def a_template(channel: Channel, name: str = "appointment_reminder", **fields: Any) -> MessageTemplate:
    """An approved template without parameters, of the account that the channel belongs to."""
    return a_message_template(channel, text="Your table is booked.", name=name, language="en_US", **fields)


def send(a: Tenant, text: str = "Yes, at eight.") -> Message:
    """Answer the one conversation, over the API; somebody writes first where there is none."""
    if not Message.objects.exists():
        receive(received(a.channel))
    answer = a.workspace_api.post(f"/conversations/{the_conversation().uuid}/messages", {"text": text})
    assert answer.status_code == 201, answer.content
    return Message.objects.get(uuid=answer.json()["data"]["id"])


def record(message: Message, status: str = "sent", *, at: datetime | None = None, **more: Any) -> None:
    """Say what came of a message, as the sender does."""
    result = SendResult(message=message.pk, status=status, at=at or now(), **more)
    with transaction.atomic():
        record_send_results([result], now=now())


def sent(a: Tenant, text: str = "Yes, at eight.", *, provider_id: str = "", at: datetime | None = None) -> Message:
    """A message that its provider has taken."""
    message = send(a, text)
    record(message, provider_message_id=provider_id or f"wamid.out-{message.pk}", at=at)
    message.refresh_from_db()
    return message
