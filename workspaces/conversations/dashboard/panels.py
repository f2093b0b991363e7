"""Conversations on other pages: the home page, the search, and the timeline of a contact."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.pages.search import SearchResult
from config.formats import format_relative
from workspaces.contacts.dashboard.finding import contact_pattern
from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.models.messages import Direction, Type
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection
from workspaces.subaccounts.pages.search import WorkspaceSearchSource

MOST_COUNTED: Final = 99


def unanswered(workspace: Workspace, now: datetime) -> ConversationQuerySet:
    """Return the open conversations whose last message is the contact's, without snoozed ones, oldest first."""
    rows = Conversation.objects.of(workspace).filter(status=Conversation.Status.OPEN)
    awake = Q(snoozed_until=None) | Q(snoozed_until__lte=now)
    return rows.filter(awake, last_message_direction=Direction.IN).order_by("last_message_at", "id")


def _content(workspace: Workspace, now: datetime, most: int) -> HomeContent:
    waiting = unanswered(workspace, now)
    total = waiting.order_by().values("pk")[: MOST_COUNTED + 1].count()
    rows = [
        HomeRow(
            title=str(one.contact),
            detail=one.last_message_preview,
            at=one.last_message_at or one.updated_at,
            url=reverse("app:conversation", args=[one.uuid]),
        )
        for one in waiting.select_related("contact")[:most]
    ]
    return HomeContent(rows=rows, note=_note(total, rows[0].at, now) if rows else "")


def _note(total: int, oldest: datetime, now: datetime) -> str:
    said = ngettext(
        "%(number)s conversation waits for your reply. The message came %(ago)s.",
        "%(number)s conversations wait for your reply. The oldest message came %(ago)s.",
        total,
    )
    number = f"{MOST_COUNTED}+" if total > MOST_COUNTED else str(total)
    return said % {"number": number, "ago": format_relative(oldest, now)}


UNANSWERED: Final = HomeSection(
    name="unanswered", label=gettext_lazy("Unanswered"), order=10, url_name="app:inbox", content=_content
)


def _found(workspace: Workspace, query: str, most: int) -> Iterator[SearchResult]:
    rows = Conversation.objects.of(workspace)
    rows = rows.filter(contact__workspace=workspace, contact__search_key__like=contact_pattern(query))
    for one in rows.select_related("contact", "channel").newest_activity_first()[:most]:
        detail = f"{one.channel.name} · {one.last_message_preview}" if one.last_message_preview else one.channel.name
        yield SearchResult(title=str(one.contact), detail=detail, url=reverse("app:conversation", args=[one.uuid]))


CONVERSATIONS: Final = WorkspaceSearchSource(
    name="conversations", label=gettext_lazy("Conversations"), order=20, find=_found
)


# The timeline of a contact -------------------------------------------------------------------------


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
