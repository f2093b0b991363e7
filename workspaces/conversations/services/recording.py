"""Records many events of conversations and messages at once. Without subscriptions this is one statement and no row."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from agency.services import NewEvent, record_events, subscribed_events
from agency.tenants import Tenant
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services.listing import shown_conversations, shown_messages
from workspaces.subaccounts.models import Workspace

OPENED = "conversation.opened"
ASSIGNED = "conversation.assigned"
CLOSED = "conversation.closed"
REOPENED = "conversation.reopened"
NOTE_ADDED = "conversation.note_added"
RECEIVED = "message.received"
# The topic for each status of an outgoing message.
MESSAGE_TOPICS = {status: f"message.{status}" for status in ("sent", "delivered", "read", "failed")}

# The topic and the primary keys of the workspace and of the conversation or message.
Happened = tuple[str, int, int]


def record_conversation_events(happened: Sequence[Happened], *, now: datetime) -> None:
    """Record events of conversations, in the transaction of the changes."""
    _record("conversation", happened, _conversations, now)


def record_message_events(happened: Sequence[Happened], *, now: datetime) -> None:
    """Record events of messages, in the transaction of the changes."""
    _record("message", happened, _messages, now)


def _record(resource: str, happened: Sequence[Happened], load: Any, now: datetime) -> None:
    wanted = list(_wanted(happened))
    if not wanted:
        return
    rows: Mapping[int, Any] = load({row for _, _, row in wanted})
    tenants = _tenants({workspace for _, workspace, _ in wanted})
    record_events(
        NewEvent(tenant=tenants[workspace], name=name, data={resource: rows[row]}, occurred_at=now)
        for name, workspace, row in wanted
        if row in rows
    )


def _wanted(happened: Sequence[Happened]) -> Iterator[Happened]:
    names = subscribed_events({workspace for _, workspace, _ in happened})
    return (one for one in happened if one[0] in names.get(one[1], ()))


def _conversations(ids: Collection[int]) -> dict[int, Conversation]:
    return {one.pk: one for one in shown_conversations(Conversation.objects.filter(pk__in=ids))}


def _messages(ids: Collection[int]) -> dict[int, Message]:
    return {one.pk: one for one in shown_messages(Message.objects.filter(pk__in=ids))}


def _tenants(workspaces: Collection[int]) -> dict[int, Tenant]:
    rows = Workspace.objects.filter(pk__in=workspaces).values_list("agency_id", "pk", "uuid")
    return {pk: Tenant(agency, pk, uuid) for agency, pk, uuid in rows}
