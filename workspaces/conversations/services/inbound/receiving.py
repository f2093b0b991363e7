"""Receives messages from contacts."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from workspaces.conversations.facts import MessageReceived
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.inbound.activity import (
    Activity,
    NewMessage,
    activities_of,
    apply_activities,
    in_order_of_arrival,
)
from workspaces.conversations.services.inbound.changes import apply_parked_changes
from workspaces.conversations.services.inbound.conversations import LockedConversation
from workspaces.conversations.services.inbound.messages import Draft, draft_of, write_files, write_messages
from workspaces.conversations.services.inbound.opting_out import Received, obey_opt_outs
from workspaces.conversations.services.inbound.people import conversations_of_people
from workspaces.conversations.services.recording import (
    OPENED,
    RECEIVED,
    REOPENED,
    record_conversation_events,
    record_message_events,
)


def receive_messages(facts: Sequence[MessageReceived], *, now: datetime) -> int:
    """Store messages of contacts. Return how many were new.

    Each new sender becomes a contact. The message opens or reopens the conversation. Opt-outs are applied before events
    about the message are recorded.
    """
    if not facts:
        return 0
    threads = conversations_of_people(facts, now=now)
    drafts = [_draft(fact, conversation) for fact, conversation in threads]
    written = write_messages(drafts, direction="in", now=now)
    received = _received(threads, written)
    conversations = [one for _, one in threads]
    activities = activities_of((one.message.conversation for one in received), beside=conversations)
    for one in received:
        activities[one.message.conversation.id].add(one.message)
    apply_activities(in_order_of_arrival(activities, conversations, now=now), now=now)
    write_files([(one.message, one.fact.file) for one in received if one.fact.file], now=now)
    apply_parked_changes(written, now=now)
    obey_opt_outs(received, now=now)
    _tell(activities.values(), [one.message for one in received], threads, now)
    return len(received)


def _draft(fact: MessageReceived, conversation: LockedConversation) -> Draft:
    details = {**fact.details, "payload": fact.payload} if fact.payload else fact.details
    return draft_of(conversation, fact.message_id, fact.type, fact.text, details, fact.at)


def _received(
    threads: Sequence[tuple[MessageReceived, LockedConversation]], written: dict[tuple[int, str], NewMessage]
) -> list[Received]:
    """Return the new messages in the order of their times, each with the first fact about it."""
    facts: dict[int, MessageReceived] = {}
    for fact, conversation in threads:
        message = written.get((conversation.channel_id, fact.message_id))
        if message is not None:
            facts.setdefault(message.id, fact)
    return [Received(facts[one.id], one) for one in written.values() if one.id in facts]


def _tell(
    activities: Iterable[Activity],
    messages: Sequence[NewMessage],
    threads: Sequence[tuple[MessageReceived, LockedConversation]],
    now: datetime,
) -> None:
    new = {one.id: one for _, one in threads if one.is_new}
    reopened = [one.conversation for one in activities if one.reopens]
    opened = [(OPENED, one.workspace_id, one.id) for one in new.values()]
    again = [(REOPENED, one.workspace_id, one.id) for one in reopened]
    record_conversation_events([*opened, *again], now=now)
    record_message_events([(RECEIVED, one.conversation.workspace_id, one.id) for one in messages], now=now)
    announce_changes((one.conversation.workspace_id, one.conversation.id) for one in messages)
