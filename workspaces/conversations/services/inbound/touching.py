"""Applies contacts' actions that open the 24-hour window without a message."""

from collections.abc import Sequence
from datetime import datetime

from workspaces.conversations.facts import ConversationTouched
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.inbound.activity import activities_of, apply_activities, in_order_of_arrival
from workspaces.conversations.services.inbound.people import conversations_of_people
from workspaces.conversations.services.recording import OPENED, record_conversation_events


def touch_conversations(facts: Sequence[ConversationTouched], *, now: datetime) -> int:
    """Open the window of people who called or followed a link. Return the number of applied facts.

    A new person becomes a contact with an open, empty conversation.
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
