"""Sends messages to contacts: checks the channel and the contact, inserts the message and queues it."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from config.celery import wake_up
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.models.messages import Direction, Status, Type
from workspaces.conversations.services.content import (
    RULES,
    SENDING_DETAILS,
    CheckedContent,
    Content,
    check_content,
    is_marketing,
)
from workspaces.conversations.services.conversations import (
    OPENED,
    CannotSendAgain,
    CannotSendHere,
    ChannelNotActive,
    ContactOptedOut,
    ContentRefused,
    NoAddress,
    NotSentFromHere,
    SentAgainAlready,
    WindowClosed,
    announce_changes,
    lock_channels,
    lock_conversation,
    record_conversation_events,
)
from workspaces.conversations.services.registries import OwnMessage, tell_own_messages
from workspaces.subaccounts.models import Channel, Workspace

# The name by which the sender is woken up.
SENDER = "sender"


def queue_message(
    *, conversation: Conversation, content: CheckedContent, agency_id: int, by: Actor, now: datetime
) -> Message:
    """Insert a message to send and wake up the sender. The caller's transaction holds the conversation's lock."""
    message = Message.objects.create(
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation=conversation,
        direction=Direction.OUT,
        type=content.type,
        text=content.text,
        details=content.details,
        template=content.template,
        media=content.media,
        status=Status.PENDING,
        sent_by_kind=by.kind,
        sent_by_label=by.label,
        provider_time=now,
        created_at=now,
    )
    QueuedMessage.objects.create(
        message=message,
        agency_id=agency_id,
        workspace_id=conversation.workspace_id,
        channel_id=conversation.channel_id,
        conversation_id=conversation.pk,
        due_at=now,
    )
    _show_as_last(conversation, message, now)
    announce_changes([(conversation.workspace_id, conversation.pk)])
    wake_up(SENDER)
    return message


def _show_as_last(conversation: Conversation, message: Message, now: datetime) -> None:
    conversation.updated_at = now
    changed = ["updated_at"]
    if conversation.last_message_at is None or conversation.last_message_at <= message.provider_time:
        conversation.last_message, conversation.last_message_uuid = message.pk, message.uuid
        conversation.last_message_at = message.provider_time
        conversation.last_message_direction, conversation.last_message_type = message.direction, message.type
        conversation.last_message_preview = message.text[:LONGEST_PREVIEW]
        changed += [
            "last_message",
            "last_message_uuid",
            "last_message_at",
            "last_message_direction",
            "last_message_type",
            "last_message_preview",
        ]
    conversation.save(update_fields=changed)


@transaction.atomic
def send_message(*, conversation: Conversation, content: Content, by: Actor, now: datetime) -> Message:
    """Write a message into a conversation and queue it for the sender.

    Raises `ChannelNotActive`, `NoAddress`, `ContactOptedOut`, `WindowClosed`, `ContentRefused` and
    `ComposerModeSomethingElse`.
    """
    locked = lock_conversation(conversation)
    return _send(locked, content, by=by, now=now)


@transaction.atomic
def send_message_to_contact(
    *, workspace: Workspace, contact: Contact, channel: Channel, content: Content, by: Actor, now: datetime
) -> Message:
    """Send a message to a contact on a channel. Open the conversation if there is none.

    Raises the errors of `send_message`.
    """
    conversation, is_new = Conversation.objects.get_or_create(
        channel=channel, contact=contact, defaults={"workspace": workspace, "created_at": now, "updated_at": now}
    )
    message = _send(lock_conversation(conversation), content, by=by, now=now)
    if is_new:
        record_conversation_events([(OPENED, workspace.pk, conversation.pk)], now=now)
    return message


@transaction.atomic
def send_message_again(*, message: Message, by: Actor, now: datetime) -> Message:
    """Send a failed message again as a new one. The failed message's `details` name the new one.

    It locks the channel first, because a callback reader may just be recording that the message has arrived. Raises
    `CannotSendAgain`, `NotSentFromHere`, `SentAgainAlready` and the errors of `send_message`.
    """
    lock_channels([message.channel_id])
    conversation = lock_conversation(message.conversation)
    failed = Message.objects.select_related("media__workspace").get(pk=message.pk)
    if failed.direction != Direction.OUT or failed.status != Status.FAILED or failed.removed_at or failed.has_gone_out:
        raise CannotSendAgain
    if failed.sent_elsewhere:
        raise NotSentFromHere
    if "sent_again" in failed.details:
        raise SentAgainAlready
    made = _send(conversation, _content_of(failed), by=by, now=now)
    failed.details = {**failed.details, "sent_again": str(made.uuid)}
    failed.save(update_fields=["details"])
    return made


def _content_of(message: Message) -> Content | CheckedContent:
    if message.template is not None:
        return Content(template=message.template)
    if message.media is None and message.type not in (Type.TEXT, Type.INTERACTIVE):
        raise ContentRefused("The file of this message has been removed.", field="media")
    details = {name: value for name, value in message.details.items() if name in SENDING_DETAILS}
    if details:
        return CheckedContent(message.type, message.text, media=message.media, details=details)
    return Content(text=message.text, media=message.media)


def _send(conversation: Conversation, content: Content | CheckedContent, *, by: Actor, now: datetime) -> Message:
    channel, contact = conversation.channel, conversation.contact
    if channel.platform not in RULES:
        raise CannotSendHere
    if channel.status != Channel.Status.ACTIVE:
        raise ChannelNotActive
    if not can_be_reached(contact, channel):
        raise NoAddress
    if contact.opted_out_at is not None:
        raise ContactOptedOut
    written = check_content(content, channel) if isinstance(content, Content) else content
    wants_none = contact.marketing_opted_out_at is not None
    if wants_none and written.template is not None and is_marketing(written.template, channel):
        raise ContactOptedOut
    if written.needs_window and not is_window_open(conversation, now):
        raise WindowClosed
    agency = conversation.workspace.agency_id
    message = queue_message(conversation=conversation, content=written, agency_id=agency, by=by, now=now)
    tell_own_messages([_own(message)], now=now)
    return message


def _own(message: Message) -> OwnMessage:
    return OwnMessage(
        id=message.pk,
        workspace_id=message.workspace_id,
        conversation_id=message.conversation_id,
        by_kind=message.sent_by_kind,
        by_label=message.sent_by_label,
        at=message.provider_time,
    )


def can_be_reached(contact: Contact, channel: Channel) -> bool:
    """Return whether the contact can be reached on this channel. On WhatsApp a phone number suffices."""
    return bool(reachable_channels(contact, [channel]))


def reachable_channels(contact: Contact, channels: Iterable[Channel]) -> list[Channel]:
    """Return the channels on which the contact can be reached, with at most one query."""
    asked = list(channels)
    by_number = {one.pk for one in asked if one.platform == "whatsapp" and contact.phone}
    others = {one.pk for one in asked} - by_number
    known = ContactIdentity.objects.filter(channel__in=others, contact=contact) if others else ()
    reached = by_number | {one.channel_id for one in known}
    return [one for one in asked if one.pk in reached]


def is_window_open(conversation: Conversation, now: datetime) -> bool:
    """Return whether the network accepts free text now."""
    expires = conversation.window_expires_at
    return expires is not None and now < expires
