"""Conversations and messages with what is shown of them, in one statement each."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet, Sum

from workspaces.conversations.models import Conversation, ConversationCount
from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.models.messages import MessageQuerySet
from workspaces.media.models.media import unread_of_workspace
from workspaces.subaccounts.models import Channel, Workspace


def shown_conversations(rows: ConversationQuerySet) -> ConversationQuerySet:
    """Join what a conversation shows beside its own columns."""
    return rows.select_related("channel", "contact", "assigned_to")


def newest_page(rows: "QuerySet[Conversation]", offset: int, size: int) -> ConversationQuerySet:
    """Give a page of conversations, newest activity first; the rows before it are walked over in an index alone."""
    page = rows.order_by("-updated_at", "-id").values("pk")[offset : offset + size]
    return shown_conversations(Conversation.objects.filter(pk__in=page)).newest_activity_first()


def count_conversations(workspace: Workspace, rows: "QuerySet[Conversation]", wanted: Mapping[str, Any]) -> int:
    """Count what a list of conversations is asked for; `wanted` holds its filters by name, `rows` what they find.

    All of them and those of a channel or status are counted by kept numbers. Of those with nothing unread it is known
    how many the others are, which are few.
    """
    if not wanted.keys() <= {"channel", "status", "unread"} or wanted.get("unread"):
        return rows.count()
    own, kept = Conversation.objects.of(workspace), ConversationCount.objects.filter(workspace_id=workspace.pk)
    if "status" in wanted:
        own, kept = own.filter(status=wanted["status"]), kept.filter(status=wanted["status"])
    if "channel" in wanted:
        channel = Channel.objects.filter(workspace=workspace, uuid=wanted["channel"]).values("pk")
        own, kept = own.filter(channel__in=channel), kept.filter(channel_id__in=channel)
    total = int(kept.aggregate(total=Sum("number"))["total"] or 0)
    return total - own.filter(unread_count__gt=0).count() if "unread" in wanted else total


def shown_messages(rows: MessageQuerySet) -> MessageQuerySet:
    """Join what a message shows beside its own columns."""
    shown = rows.select_related("conversation__contact", "media__workspace", "fetch")
    return shown.defer(*unread_of_workspace("media__workspace"))
