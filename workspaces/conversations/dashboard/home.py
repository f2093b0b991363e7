"""Unanswered conversations on the dashboard's home page, and conversations in the dashboard's search."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from agency.pages.search import SearchResult
from config.formats import format_relative
from workspaces.contacts.dashboard.finding import contact_pattern
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.models.messages import Direction
from workspaces.subaccounts.models import Workspace
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
