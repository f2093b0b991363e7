"""Adds broadcasts' messages to the contacts' conversations, at the time when somebody opens one.

Sending writes nothing to conversations, because most recipients have none. Reading a thread looks up its contact in the
channel's newest broadcasts, by the recipients' key.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient
from channelconnect.services.template_checks import check_template
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.models.messages import Direction, Type
from workspaces.conversations.services import ConversationNotFound
from workspaces.conversations.services.conversations import ContentRefused, lock_conversation
from workspaces.conversations.services.removal import KEPT
from workspaces.conversations.services.threads import ThreadSource
from workspaces.subaccounts.models import Channel

KIND: Final = "broadcast"
# Only this many of a channel's newest broadcasts are searched for messages.
MOST_BROADCASTS: Final = 500
COLUMNS: Final = ("status", "sent_at", "delivered_at", "read_at", "error_code", "error_message", "provider_message_id")
# A message older than the retention of messages is not added.
SENT_MESSAGES: Final = """
SELECT broadcast.id, recipient.status, recipient.sent_at, recipient.delivered_at, recipient.read_at,
    recipient.error_code, recipient.error_message, recipient.provider_message_id, recipient.at
FROM (
    SELECT id FROM broadcasts_broadcast WHERE channel_id = %(channel)s AND started_at IS NOT NULL
    ORDER BY id DESC LIMIT %(most)s
) AS broadcast
CROSS JOIN LATERAL (
    SELECT *, coalesce(sent_at, claimed_at, failed_at, created_at) AS at FROM broadcasts_recipient
    WHERE broadcast_id = broadcast.id AND contact_id = %(contact)s
        AND status IN ('sent', 'delivered', 'read', 'failed')
) AS recipient
WHERE recipient.at > statement_timestamp() - make_interval(secs => %(kept)s)
ORDER BY recipient.at, broadcast.id
"""


class SentMessage(NamedTuple):
    """A broadcast's message to one contact and its status. The columns are a message's."""

    broadcast: int
    status: str
    sent_at: datetime | None
    delivered_at: datetime | None
    read_at: datetime | None
    error_code: str | None
    error_message: str | None
    provider_message_id: str | None
    at: datetime

    @property
    def columns(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in COLUMNS}


def copy_broadcasts_into_thread(conversation: Conversation) -> None:
    """Copy the broadcasts' messages for a conversation's contact into the conversation, and update their statuses."""
    gone_out = _sent_messages(conversation)
    if not gone_out:
        return
    known, told = _known(conversation, gone_out)
    new = {uuid: one for uuid, one in gone_out.items() if uuid not in known and one.provider_message_id not in told}
    changed = {uuid: one for uuid, one in gone_out.items() if uuid in known and _differs(known[uuid], one)}
    if new:
        _write(conversation, new)
    if changed:
        _follow(changed)


def _sent_messages(conversation: Conversation) -> dict[UUID, SentMessage]:
    """Return messages by their recipients' public ids. They keep these ids, so that none is written twice."""
    values = {
        "channel": conversation.channel_id,
        "contact": conversation.contact_id,
        "most": MOST_BROADCASTS,
        "kept": KEPT.total_seconds(),
    }
    with connection.cursor() as cursor:
        cursor.execute(SENT_MESSAGES, values)
        rows = [SentMessage._make(row) for row in cursor.fetchall()]
    return {Recipient(broadcast_id=one.broadcast, contact_id=conversation.contact_id).uuid: one for one in rows}


def _known(conversation: Conversation, gone_out: Mapping[UUID, SentMessage]) -> tuple[dict[UUID, Message], set[str]]:
    """Return the messages already there, and their network ids; the network may have reported a message itself."""
    ids = [one.provider_message_id for one in gone_out.values() if one.provider_message_id]
    of_network = Q(channel_id=conversation.channel_id, provider_message_id__in=ids)
    found = Message.objects.filter(Q(uuid__in=gone_out) | of_network).only("uuid", *COLUMNS)
    return {one.uuid: one for one in found}, {one.provider_message_id for one in found if one.provider_message_id}


def _differs(message: Message, one: SentMessage) -> bool:
    return any(getattr(message, name) != value for name, value in one.columns.items())


@transaction.atomic
def _write(conversation: Conversation, new: Mapping[UUID, SentMessage]) -> None:
    """Write messages, unless the contact is removed meanwhile, because the conversation's data is erased then."""
    try:
        held = lock_conversation(conversation)
    except ConversationNotFound:
        return
    ids = {one.broadcast for one in new.values()}
    broadcasts = Broadcast.objects.filter(pk__in=ids).only("name", "frozen").in_bulk()
    recipients = Recipient.objects.filter(broadcast_id__in=ids, contact_id=held.contact_id)
    values = dict(recipients.values_list("broadcast_id", "values"))
    texts = _Texts(held.channel)
    rows = [
        _message(uuid, one, held, broadcasts[one.broadcast], texts.of(broadcasts[one.broadcast], values[one.broadcast]))
        for uuid, one in new.items()
        if one.broadcast in broadcasts and one.broadcast in values
    ]
    Message.objects.bulk_create(rows, ignore_conflicts=True)


def _message(
    uuid: UUID, one: SentMessage, conversation: Conversation, broadcast: Broadcast, content: tuple[str, object]
) -> Message:
    text, template = content
    return Message(
        uuid=uuid,
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation=conversation,
        direction=Direction.OUT,
        type=Type.TEMPLATE if template else Type.TEXT,
        text=text,
        template=template,
        sent_by_kind=KIND,
        sent_by_label=broadcast.name,
        provider_time=one.at,
        created_at=one.at,
        **one.columns,
    )


class _Texts:
    """The texts that recipients have read: a template filled with its parameters, and the original links."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def of(self, broadcast: Broadcast, values: Sequence[str] | None) -> tuple[str, Mapping[str, object] | None]:
        message = FrozenMessage.from_json(broadcast.frozen) if broadcast.frozen else FrozenMessage()
        text, template = message.for_recipient(values)
        return (self._filled(template), template) if template else (text, None)

    def _filled(self, template: Mapping[str, Any]) -> str:
        try:
            return check_template(self.channel, template["name"], template["language"], template["components"])
        except ContentRefused:
            return ""  # the template was changed or removed at the network since


@transaction.atomic
def _follow(changed: Mapping[UUID, SentMessage]) -> None:
    """Update the statuses of messages. A message that another transaction is changing waits for the next look."""
    rows = Message.objects.filter(uuid__in=changed, sent_by_kind=KIND).order_by("pk")
    held = list(rows.select_for_update(skip_locked=True, no_key=True))
    for message in held:
        for name, value in changed[message.uuid].columns.items():
            setattr(message, name, value)
    Message.objects.bulk_update(held, COLUMNS)


THREAD_SOURCE: Final = ThreadSource(name="broadcasts", sync=copy_broadcasts_into_thread)
