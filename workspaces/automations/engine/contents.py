"""Turns messages of flows into contents of conversations, and holds the caps on how many a contact gets."""

from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final
from uuid import UUID

from django.utils.translation import gettext_noop

from workspaces.automations.engine.rows import Caps, ConversationRow, RunRow
from workspaces.automations.execution.types import SendMessage
from workspaces.conversations.models.conversations import PLATFORMS_WITH_WINDOW, WINDOW
from workspaces.conversations.services.content import (
    CheckedContent,
    Content,
    TemplateChoice,
    check_content,
    template_choice,
    template_choices,
)
from workspaces.conversations.services.conversations import ContentRefused
from workspaces.conversations.services.interactive import InteractiveOption, interactive_content
from workspaces.media.models import Media
from workspaces.subaccounts.models import Channel

# A contact gets at most so many messages of automations, whatever automations there are.
MOST_A_MINUTE: Final = 10
MOST_A_DAY: Final = 60
MOST_SAME_TEXT: Final = 3
SAME_TEXT_WITHIN: Final = timedelta(minutes=5)
PAYLOAD: Final = "run:{token}:{seq}:{port}"


class MessageContents:
    """Builds the contents of a batch's messages. Channels, templates and files are read once for a batch."""

    def __init__(self) -> None:
        self._channels: dict[int, Channel] = {}
        self._templates: dict[int, list[TemplateChoice]] = {}

    def build(self, run: RunRow, seq: int, message: SendMessage, conversation: ConversationRow) -> CheckedContent:
        """Build the content of one message. Raises `DomainError` if the product refuses it."""
        if message.template:
            return check_content(self._template(message, conversation), self._channel(conversation))
        if message.media:
            content = Content(text=message.text, media=_media(message.media, run))
            return check_content(content, self._channel(conversation))
        options = [
            InteractiveOption(
                PAYLOAD.format(token=run.uuid.hex, seq=seq, port=one.port), one.title, description=one.description
            )
            for one in message.options
        ]
        return interactive_content(
            conversation.platform,
            message.text,
            options,
            style=message.style,
            list_button=message.list_button,
            footer=message.footer,
            button=message.button,
            url=message.url,
            phone=message.phone,
        )

    def _template(self, message: SendMessage, conversation: ConversationRow) -> Content:
        if conversation.channel_id not in self._templates:
            self._templates[conversation.channel_id] = template_choices(self._channel(conversation))
        choice = template_choice(self._templates[conversation.channel_id], message.template)
        if choice is None:
            raise ContentRefused(gettext_noop("This template is not approved any more."), field="template")
        return Content(template=choice.filled(message.parameters))

    def _channel(self, conversation: ConversationRow) -> Channel:
        if conversation.channel_id not in self._channels:
            self._channels[conversation.channel_id] = Channel.objects.get(pk=conversation.channel_id)
        return self._channels[conversation.channel_id]


def _media(uuid: str, run: RunRow) -> Media:
    try:
        key = UUID(uuid)
    except ValueError:
        raise ContentRefused(gettext_noop("The file of this step is not there."), field="media") from None
    found = Media.objects.filter(uuid=key, workspace__automations=run.automation_id).with_agency().first()
    if found is None:
        raise ContentRefused(gettext_noop("The file of this step is not there."), field="media")
    return found


def reason_unsendable(
    conversation: ConversationRow, message: SendMessage, now: datetime, *, is_asked_for: bool = False
) -> str:
    """Return why a message cannot be sent now, or "". Such a message is skipped, not sent later.

    `is_asked_for` says that a person has started the run; a pause does not concern it.
    """
    if conversation.channel_status != "active":
        return "channel_not_active"
    if conversation.is_paused and not is_asked_for:
        return "paused"
    has_window = conversation.platform in PLATFORMS_WITH_WINDOW
    is_open = conversation.last_inbound_at is not None and conversation.last_inbound_at + WINDOW > now
    return "" if message.template or not has_window or is_open else "window_closed"


def count_message(caps: Caps, content: CheckedContent, now: datetime) -> bool:
    """Count a message against the caps of its contact. Return False if it would exceed one of them."""
    minute = _began(caps.minute_began_at, now, timedelta(minutes=1))
    day = _began(caps.day_began_at, now, timedelta(days=1))
    in_minute = caps.minute_count if minute == caps.minute_began_at else 0
    in_day = caps.day_count if day == caps.day_began_at else 0
    digest = int.from_bytes(blake2b(content.text.encode(), digest_size=8).digest(), signed=True)
    is_same = caps.last_text_digest == digest and caps.last_text_at is not None
    is_lately = caps.last_text_at is not None and now - caps.last_text_at < SAME_TEXT_WITHIN
    same = caps.last_text_count + 1 if is_same and is_lately else 1
    if in_minute >= MOST_A_MINUTE or in_day >= MOST_A_DAY or same > MOST_SAME_TEXT:
        return False
    caps.minute_began_at, caps.minute_count = minute, in_minute + 1
    caps.day_began_at, caps.day_count = day, in_day + 1
    caps.last_text_digest, caps.last_text_count, caps.last_text_at = digest, same, now
    return True


def _began(known: datetime | None, now: datetime, length: timedelta) -> datetime:
    """Return the beginning of the period that counts: the known one, or now if it is over."""
    return known if known is not None and known <= now < known + length else now
