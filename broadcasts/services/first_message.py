"""Whether a workspace has sent anything yet."""

from broadcasts.models import Broadcast
from workspaces.conversations.models import Conversation, Message
from workspaces.subaccounts.models import Workspace

# Only this many of the newest are looked at.
MOST_LOOKED_AT = 20


def has_sent(workspace: Workspace) -> bool:
    """Say whether a broadcast has begun, or a conversation has an outgoing message. It takes two statements."""
    begun = Broadcast.objects.filter(workspace=workspace).order_by("-created_at", "-id")[:MOST_LOOKED_AT]
    if any(started_at is not None for started_at in begun.values_list("started_at", flat=True)):
        return True
    conversations = Conversation.objects.of(workspace).newest_activity_first().values("pk")[:MOST_LOOKED_AT]
    return Message.objects.filter(conversation__in=conversations, direction="out").exists()
