"""Channels at the sandbox, conversations on them, and messages that wait to be sent."""

from datetime import datetime
from itertools import count
from typing import Any

from django.utils.timezone import now

from channelconnect.models import ChannelCredential
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from tools.sandbox.graph.tokens import Token, write
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.subaccounts.models import Channel, Workspace

SCOPES = ("whatsapp_business_management", "whatsapp_business_messaging", "pages_messaging", "instagram_manage_messages")
NUMBERS = ("4010000", "4010001")
PAGE, INSTAGRAM, BUSINESS = "6010000", "7010000", "2010000"
_people = count(1)


def a_channel(
    workspace: Workspace,
    sandbox: RunningSandbox,
    *,
    platform: str = "whatsapp",
    external_id: str = "",
    scopes: tuple[str, ...] = SCOPES,
) -> Channel:
    """A channel of Ann's, with a token that the sandbox knows."""
    is_number = platform == "whatsapp"
    account = external_id or {"whatsapp": NUMBERS[0], "facebook": PAGE, "instagram": INSTAGRAM}[platform]
    channel = ChannelFactory.create(workspace=workspace, platform=platform, external_id=account, starter_pack=False)
    token = Token(
        person="ann", kind="SYSTEM_USER" if is_number else "PAGE", granted=scopes, page="" if is_number else PAGE
    )
    ChannelCredential.objects.create(
        channel=channel, token=write(token, sandbox.config.app_secret), container_id=BUSINESS if is_number else PAGE
    )
    return channel


def a_conversation(channel: Channel, *, phone: str = "", user_id: str | None = None) -> Conversation:
    """A conversation with somebody new."""
    number = next(_people)
    is_number = channel.platform == "whatsapp"
    external_id = None if user_id else (phone or f"49170{number:07d}") if is_number else f"9{number:09d}"
    contact = Contact.objects.create(workspace=channel.workspace, name=f"Person {number}", search_key="person")
    ContactIdentity.objects.create(
        contact=contact, workspace=channel.workspace, channel=channel, external_id=external_id, user_id=user_id
    )
    return Conversation.objects.create(workspace=channel.workspace, channel=channel, contact=contact)


def a_message(conversation: Conversation, text: str = "Hello", **fields: Any) -> Message:
    """A message of that conversation that is to be sent now."""
    values = {"type": "text", "provider_time": now(), **fields}
    message = Message.objects.create(
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation=conversation,
        direction="out",
        status="pending",
        text=text,
        **values,
    )
    QueuedMessage.objects.create(
        message=message,
        agency_id=conversation.workspace.agency_id,
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation_id=conversation.pk,
        due_at=now(),
    )
    return message


def many_messages(conversations: list[Conversation], each: int = 1) -> None:
    """Queue so many messages of each conversation, in bulk."""
    at = now()
    messages = Message.objects.bulk_create(
        Message(
            workspace_id=one.workspace_id,
            channel_id=one.channel_id,
            conversation=one,
            direction="out",
            status="pending",
            type="text",
            text=f"Message {turn}",
            provider_time=at,
        )
        for turn in range(each)
        for one in conversations
    )
    agency = conversations[0].workspace.agency_id
    QueuedMessage.objects.bulk_create(
        QueuedMessage(
            message=one,
            agency_id=agency,
            workspace_id=one.workspace_id,
            channel_id=one.channel_id,
            conversation_id=one.conversation_id,
            due_at=at,
        )
        for one in messages
    )


def many_conversations(channel: Channel, total: int) -> list[Conversation]:
    """So many people on a channel, in bulk."""
    first = next(_people) * 100_000
    contacts = Contact.objects.bulk_create(
        Contact(workspace=channel.workspace, name="Somebody", search_key="somebody") for _ in range(total)
    )
    ContactIdentity.objects.bulk_create(
        ContactIdentity(
            contact=contact, workspace=channel.workspace, channel=channel, external_id=f"49{first + index:010d}"
        )
        for index, contact in enumerate(contacts)
    )
    return Conversation.objects.bulk_create(
        Conversation(workspace=channel.workspace, channel=channel, contact=contact) for contact in contacts
    )


def ended(message: Message, *statuses: str) -> Message:
    """Wait until a message is pending no longer, and give it."""

    def look() -> bool:
        message.refresh_from_db()
        return message.status in statuses if statuses else message.status != "pending"

    until(look, what="the end of a message")
    return message


def put_off(message: Message) -> QueuedMessage:
    """Wait until a message waits for another try, and give its row."""
    rows = QueuedMessage.objects.filter(message=message, is_ready=False, run=None, is_unknown=False, tries__gt=0)
    return until(rows.first, what="a message that is put off")


def unknown(message: Message) -> QueuedMessage:
    """Wait until nobody knows whether a message was sent, and give its row."""
    return until(QueuedMessage.objects.filter(message=message, is_unknown=True).first, what="an unknown outcome")


def make_due(message: Message, at: datetime | None = None) -> None:
    """Move the time for which a message waits to now."""
    assert QueuedMessage.objects.filter(message=message).update(due_at=at or now())


def sends(sandbox: RunningSandbox, message: Message) -> int:
    """How often the provider has accepted a message."""
    found: int = sandbox.ledger()["sent_by_opaque"].get(str(message.uuid), 0)
    return found


__all__ = ["Tenant"]
