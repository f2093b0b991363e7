"""Lists and locks conversations, records their events, and tells open inbox pages what has changed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet, Sum

from agency.services import NewEvent, record_events, subscribed_events
from agency.tenants import Tenant
from config.errors import Conflict, InvalidInput, NotFound
from config.event_streams import publish_all
from config.postgresql.arrays import integers
from config.postgresql.concurrency import AdvisoryLock
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactLockHandler
from workspaces.conversations.models import Conversation, ConversationCount, Message
from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.models.messages import MessageQuerySet
from workspaces.media.models import deferred_workspace_columns
from workspaces.subaccounts.models import Channel, Workspace


class ConversationNotFound(NotFound):
    message = "Conversation not found."


class ChannelNotActive(Conflict):
    message = "This channel is not connected."


class CannotSendHere(Conflict):
    message = "Messages cannot be sent on channels of this kind."


class NoAddress(Conflict):
    message = "This contact cannot be reached on this channel."


class ContactOptedOut(Conflict):
    message = "This contact has opted out."


class WindowClosed(Conflict):
    message = "The 24-hour window of this conversation is closed. Send a template."


class AssignedMeanwhile(Conflict):
    message = "This conversation has been assigned to somebody else meanwhile."


class CannotSendAgain(Conflict):
    message = "Only a message that has failed can be sent again."


class NotSentFromHere(Conflict):
    message = "This message was not sent from here. Send it again where it was sent."


class SentAgainAlready(Conflict):
    message = "This message has been sent again already."


class NotInTheTeam(InvalidInput):
    message = "The assigned to field must be the e-mail of a team member."
    field = "assigned_to"


class WrongComposerMode(Conflict):
    message = (
        "You began this text as a note, and it would now go out as a reply, or the other way round. Nothing was done. "
        "Check it and send it again."
    )


class ContentRefused(InvalidInput):
    """The content does not fit the channel."""


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
    return shown.defer(*deferred_workspace_columns("media__workspace"))


LOCK = """
SELECT pg_advisory_xact_lock(%s, channel.number)
FROM (SELECT number FROM unnest(%s::integer[]) AS asked (number) ORDER BY number) AS channel
"""


def lock_channels(channels: Collection[int]) -> None:
    """Lock channels, by primary key, until the transaction ends. Each channel has one callback reader at a time.

    A transaction locks all its channels at once, in one order and in its first statement, so readers do not deadlock.
    The next statement sees everything that the transaction before it committed.
    """
    numbers = sorted({number % 2**31 for number in channels})
    if numbers:
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [AdvisoryLock.CHANNEL_INBOX.value, numbers])


def lock_conversation(conversation: Conversation) -> Conversation:
    """Lock a conversation, then read it with its related rows. Raises `ConversationNotFound`.

    This takes two statements, because a join in the waiting one would still show the assignee from before the wait.
    """
    own = Conversation.objects.filter(pk=conversation.pk)
    if not own.select_for_update(no_key=True).values_list("pk", flat=True).first():
        raise ConversationNotFound
    return own.select_related("workspace", "channel", "contact", "assigned_to").get()


def lock_conversations_of(contacts: Collection[int]) -> None:
    """Lock contacts' conversations before the contacts, in the same order as callback readers do."""
    rows = Conversation.objects.filter(contact__in=contacts).order_by("pk").select_for_update()
    list(rows.values_list("pk"))


LOCK_HANDLER = ContactLockHandler("conversations", lock_conversations_of)


def open_conversation(*, contact: Contact, channel: Channel, now: datetime) -> Conversation:
    """Give the contact's conversation on a channel. Open it and record the event if there is none."""
    conversation, is_new = Conversation.objects.get_or_create(
        channel=channel,
        contact=contact,
        defaults={"workspace_id": contact.workspace_id, "created_at": now, "updated_at": now},
    )
    if is_new:
        record_conversation_events([(OPENED, contact.workspace_id, conversation.pk)], now=now)
    return conversation


# If more conversations of a workspace change at once, the entry names none, and pages reload all that they show.
MOST_NAMED = 50


def inbox_topic(workspace_id: int) -> str:
    """Return the topic of a workspace's inbox. It names the database, because several databases may share one Redis."""
    return f"inbox:{settings.DATABASES['default']['NAME']}:{workspace_id}"


# One parameter, however many conversations: a statement with hundreds takes Python longer than PostgreSQL.
UUIDS: Final = "SELECT id, uuid FROM conversations_conversation WHERE id = ANY (%s::bigint[])"


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


def _entries(conversations: dict[int, set[int]]) -> dict[str, dict[str, object]]:
    few = {workspace: ids for workspace, ids in conversations.items() if len(ids) <= MOST_NAMED}
    named: set[int] = set().union(*few.values())
    uuids: dict[int, UUID] = {}
    if named:
        with connection.cursor() as cursor:
            cursor.execute(UUIDS, [integers(named)])
            uuids = dict(cursor.fetchall())
    return {
        inbox_topic(workspace): {
            "conversations": [str(uuids[one]) for one in sorted(ids) if one in uuids] if workspace in few else None
        }
        for workspace, ids in conversations.items()
    }


OPENED = "conversation.opened"
ASSIGNED = "conversation.assigned"
CLOSED = "conversation.closed"
REOPENED = "conversation.reopened"
NOTE_ADDED = "conversation.note_added"
RECEIVED = "message.received"
# The topic for each status of an outgoing message.
MESSAGE_TOPICS = {status: f"message.{status}" for status in ("sent", "delivered", "read", "failed")}

# The topic and the primary keys of the workspace and of the conversation or message.
EventKey = tuple[str, int, int]


def record_conversation_events(happened: Sequence[EventKey], *, now: datetime) -> None:
    """Record events of conversations, in the transaction of the changes."""
    _record("conversation", happened, _conversations, now)


def record_message_events(happened: Sequence[EventKey], *, now: datetime) -> None:
    """Record events of messages, in the transaction of the changes."""
    _record("message", happened, _messages, now)


def _record(
    resource: str,
    happened: Sequence[EventKey],
    load: Callable[[Collection[int]], Mapping[int, Conversation | Message]],
    now: datetime,
) -> None:
    wanted = list(_wanted(happened))
    if not wanted:
        return
    rows = load({row for _, _, row in wanted})
    tenants = _tenants({workspace for _, workspace, _ in wanted})
    record_events(
        NewEvent(tenant=tenants[workspace], name=name, data={resource: rows[row]}, occurred_at=now)
        for name, workspace, row in wanted
        if row in rows
    )


def _wanted(happened: Sequence[EventKey]) -> Iterator[EventKey]:
    names = subscribed_events({workspace for _, workspace, _ in happened})
    return (one for one in happened if one[0] in names.get(one[1], ()))


def _conversations(ids: Collection[int]) -> dict[int, Conversation]:
    return {one.pk: one for one in shown_conversations(Conversation.objects.filter(pk__in=ids))}


def _messages(ids: Collection[int]) -> dict[int, Message]:
    return {one.pk: one for one in shown_messages(Message.objects.filter(pk__in=ids))}


def _tenants(workspaces: Collection[int]) -> dict[int, Tenant]:
    rows = Workspace.objects.filter(pk__in=workspaces).values_list("agency_id", "pk", "uuid")
    return {pk: Tenant(agency, pk, uuid) for agency, pk, uuid in rows}
