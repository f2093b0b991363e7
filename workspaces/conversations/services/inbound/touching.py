"""What contacts do without writing: it opens the window, and is no message."""

from collections.abc import Sequence
from datetime import datetime

from workspaces.conversations.facts import ConversationTouched
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.inbound.activity import activities_of, apply_activities, in_order_of_arrival
from workspaces.conversations.services.inbound.people import conversations_of_people
from workspaces.conversations.services.recording import OPENED, record_conversation_events


def touch_conversations(facts: Sequence[ConversationTouched], *, now: datetime) -> int:
    """Note that people called or came by a link, which opens their window; says of how many facts.

    Who is new becomes a contact with an open conversation in which nothing stands yet.
    """
    if not facts:
        return 0
    threads = conversations_of_people(facts, now=now)
    activities = activities_of(conversation for _, conversation in threads)
    for fact, conversation in threads:
        activities[conversation.id].touch(fact.at)
    arrived = (conversation for _, conversation in threads)
    apply_activities(in_order_of_arrival(activities, arrived, now=now), now=now)
    touched = [one.conversation for one in activities.values()]
    record_conversation_events([(OPENED, one.workspace_id, one.id) for one in touched if one.is_new], now=now)
    announce_changes((one.workspace_id, one.id) for one in touched)
    return len(threads)
