"""Tells open inbox pages, after the commit, which conversations have changed."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import transaction

from config.event_streams import publish_all
from workspaces.conversations.models import Conversation

# If more conversations of a workspace change at once, the entry names none, and pages reload all that they show.
MOST_NAMED = 50


def inbox_topic(workspace_id: int) -> str:
    """Return the topic of a workspace's inbox. It names the database, because several databases may share one Redis."""
    return f"inbox:{settings.DATABASES['default']['NAME']}:{workspace_id}"


def announce_changes(changed: Iterable[tuple[int, int]]) -> None:
    """Publish changed conversations after the commit. `changed` holds pairs of workspace and conversation keys.

    Each workspace gets one entry, `{"conversations": [id, …]}`, or null instead of the list if there are too many.
    """
    conversations: dict[int, set[int]] = {}
    for workspace, conversation in changed:
        conversations.setdefault(workspace, set()).add(conversation)
    if not conversations:
        return
    entries = _entries(conversations)

    def publish_after_commit() -> None:
        publish_all(entries)

    transaction.on_commit(publish_after_commit, robust=True)


def _entries(conversations: dict[int, set[int]]) -> dict[str, dict[str, Any]]:
    few = {workspace: ids for workspace, ids in conversations.items() if len(ids) <= MOST_NAMED}
    named: set[int] = set().union(*few.values())
    uuids: dict[int, Any] = {}
    if named:
        uuids = dict(Conversation.objects.filter(pk__in=named).values_list("pk", "uuid"))
    return {
        inbox_topic(workspace): {
            "conversations": [str(uuids[one]) for one in sorted(ids) if one in uuids] if workspace in few else None
        }
        for workspace, ids in conversations.items()
    }
