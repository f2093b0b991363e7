"""The messages of a contact's timeline."""

from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.models.messages import Direction, Type
from workspaces.subaccounts.models import CHANNEL_NAMES

# A contact has one conversation on each channel of the workspace.
MOST_CONVERSATIONS: Final = 20
LONGEST_TEXT: Final = 160
# Broadcasts give their own entries, whether their messages were copied into a conversation or not.
OF_BROADCASTS: Final = "broadcast"
COLUMNS: Final = ("conversation_id", "provider_time", "direction", "type", "text", "sent_by_label")


def messages_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest messages before a moment, in both directions, from each of the contact's conversations."""
    own = Conversation.objects.filter(contact=contact).select_related("channel").order_by("-updated_at", "-id")
    conversations = {one.pk: one for one in own[:MOST_CONVERSATIONS]}
    if not conversations:
        return []
    # Each part is read from the index of its conversation.
    first, *others = (_newest(pk, before, most) for pk in conversations)
    rows = first.union(*others, all=True).order_by("-provider_time")[:most] if others else first
    return [_entry(conversations[row[0]], *row[1:]) for row in rows]


def _newest(conversation: int, before: datetime, most: int) -> "QuerySet[Message, tuple[Any, ...]]":
    rows = Message.objects.filter(conversation_id=conversation, provider_time__lt=before)
    return rows.exclude(sent_by_kind=OF_BROADCASTS).newest_first().values_list(*COLUMNS)[:most]


def _entry(
    conversation: Conversation, at: datetime, direction: str, kind: str, text: str, sent_by: str
) -> TimelineEntry:
    is_received = direction == Direction.IN
    return TimelineEntry(
        at=at,
        icon="inbox",
        title=_("Message received") if is_received else _("Message sent"),
        text=Truncator(" ".join(text.split())).chars(LONGEST_TEXT) or str(Type(kind).label),
        state=" · ".join(filter(None, (CHANNEL_NAMES[conversation.channel.platform], sent_by))),
        url=reverse("app:conversation", args=[conversation.uuid]),
    )
