"""Querysets of conversations and messages with all that lists show, in one statement each."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet, Sum

from workspaces.conversations.models import Conversation, ConversationCount
from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.models.messages import MessageQuerySet
from workspaces.media.models.media import unread_of_workspace
from workspaces.subaccounts.models import Channel, Workspace


def shown_conversations(rows: ConversationQuerySet) -> ConversationQuerySet:
    """Join the related rows that a shown conversation needs."""
    return rows.select_related("channel", "contact", "assigned_to")


def newest_page(rows: "QuerySet[Conversation]", offset: int, size: int) -> ConversationQuerySet:
    """Return a page of conversations, newest activity first. The skipped rows are read from an index only."""
    page = rows.order_by("-updated_at", "-id").values("pk")[offset : offset + size]
    return shown_conversations(Conversation.objects.filter(pk__in=page)).newest_activity_first()


def count_conversations(workspace: Workspace, rows: "QuerySet[Conversation]", wanted: Mapping[str, Any]) -> int:
    """Count the conversations of a list. `wanted` holds its filters by name, `rows` the filtered queryset.

    Totals, also by channel and status, come from stored counts. Conversations with nothing unread are the total minus
    the few unread ones.
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
    """Join the related rows that a shown message needs."""
    shown = rows.select_related("conversation__contact", "media__workspace", "fetch")
    return shown.defer(*unread_of_workspace("media__workspace"))
