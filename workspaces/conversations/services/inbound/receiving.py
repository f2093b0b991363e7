"""Receives messages from contacts, echoes of the account's own messages, and other actions of contacts."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from config.api.requests import parse_uuid
from config.postgresql.arrays import integers, texts, timestamps, uuids
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ConsentStatement, apply_consent_statements
from workspaces.conversations.facts import ConversationTouched, EchoReceived, MessageReceived, StatusChanged, storable
from workspaces.conversations.services.conversations import (
    OPENED,
    RECEIVED,
    REOPENED,
    announce_changes,
    record_conversation_events,
    record_message_events,
)
from workspaces.conversations.services.inbound.changes import apply_parked_changes
from workspaces.conversations.services.inbound.conversations import LockedConversation, conversations_of_people
from workspaces.conversations.services.inbound.messages import (
    ConversationUpdate,
    Draft,
    NewMessage,
    apply_updates,
    draft_of,
    set_update_times,
    updates_for,
    write_files,
    write_messages,
)
from workspaces.conversations.services.inbound.statuses import apply_statuses
from workspaces.conversations.services.opt_out_words import OPT_IN, OPT_OUT, confirm_opt_outs, keys_of, own_words
from workspaces.conversations.services.registries import (
    LONGEST_TOLD_TEXT,
    IncomingMessage,
    IncomingReferral,
    OwnMessage,
    received_message_handlers,
    referral_handlers,
    tell_own_messages,
)

# A message of ours is found by the network's id, else by our own. It gets the network's time, which read marks are
# compared with.
OURS = """
WITH told AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::uuid[], %s::timestamptz[]) WITH ORDINALITY
        AS told (channel_id, message_id, uuid, at, number)
), known AS (
    SELECT told.number, message.id FROM told JOIN conversations_message message
        ON message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
), ours AS (
    SELECT told.number, message.id FROM told JOIN conversations_message message
        ON message.uuid = told.uuid AND message.channel_id = told.channel_id AND message.direction = 'out'
    WHERE NOT EXISTS (SELECT FROM known WHERE known.number = told.number)
), found AS (
    SELECT * FROM known UNION SELECT * FROM ours
), held AS (
    SELECT message.id, told.message_id, told.at FROM (
        SELECT id, min(number) AS number FROM found GROUP BY id
    ) AS each
    JOIN told ON told.number = each.number JOIN conversations_message message ON message.id = each.id
    WHERE message.direction = 'out' AND NOT message.sent_elsewhere
        AND (message.provider_time <> told.at OR message.provider_message_id IS NULL)
    ORDER BY message.id FOR NO KEY UPDATE OF message
), timed AS (
    UPDATE conversations_message message
    SET provider_time = held.at, provider_message_id = coalesce(message.provider_message_id, held.message_id)
    FROM held WHERE message.id = held.id
)
SELECT found.number - 1, bool_or(message.direction = 'out'
    AND (message.status = 'pending' OR message.error_code = 'send_outcome_unknown'))
FROM found JOIN conversations_message message ON message.id = found.id GROUP BY found.number
"""

# Like a message that comes later, one of the same second counts as unread: nobody can have answered it.
READ_ON_PHONE = """
UPDATE conversations_conversation conversation
SET read_up_to = answer.at, unread_count = (
    SELECT count(*) FROM conversations_message message
    WHERE message.conversation_id = conversation.id AND message.direction = 'in' AND message.provider_time >= answer.at)
FROM unnest(%s::bigint[], %s::timestamptz[]) AS answer (id, at)
WHERE conversation.id = answer.id AND (conversation.read_up_to IS NULL OR conversation.read_up_to < answer.at)
"""
PHONE_PLATFORM = "whatsapp"


def record_echoes(facts: Sequence[EchoReceived], *, now: datetime) -> int:
    """Record messages that accounts sent. Return how many new messages came from another app.

    Our messages get the network's time, and its id if it is missing. Pending ones become sent; those with an unknown
    outcome get the time at which they were sent. The others are stored as outgoing messages with `sent_elsewhere`. They
    do not change the conversation's status. On WhatsApp they come from the phone, where somebody has read what came
    before; elsewhere they may come from a program, and the unread count stays.
    """
    known = _match_own_messages(facts)
    apply_statuses([_sent(facts[place]) for place, is_news in sorted(known.items()) if is_news], now=now)
    apply_parked_changes([(facts[one].channel.id, storable(facts[one].message_id)) for one in known], now=now)
    foreign = [fact for number, fact in enumerate(facts) if number not in known]
    if not foreign:
        return 0
    threads = conversations_of_people(foreign, now=now, are_inbound=False)
    drafts = [draft_of(one, fact.message_id, fact.type, fact.text, fact.details, fact.at) for fact, one in threads]
    written = write_messages(drafts, direction="out", now=now)
    conversations = [one for _, one in threads]
    updates = updates_for((one.conversation for one in written.values()), beside=conversations)
    for message in written.values():
        updates[message.conversation.id].add(message)
    apply_updates(set_update_times(updates, conversations, now=now), now=now)
    phones = {fact.channel.id for fact in foreign if fact.channel.platform == PHONE_PLATFORM}
    _mark_read_on_phone([one for one in written.values() if one.conversation.channel_id in phones])
    files = {(fact.channel.id, fact.message_id): fact.file for fact in foreign if fact.file}
    write_files([(message, files[key]) for key, message in written.items() if key in files], now=now)
    apply_parked_changes(written, now=now)
    new = {one.id: one for _, one in threads if one.is_new}
    record_conversation_events([(OPENED, one.workspace_id, one.id) for one in new.values()], now=now)
    announce_changes((one.conversation.workspace_id, one.conversation.id) for one in written.values())
    tell_own_messages([_own(one) for one in written.values()], now=now)
    return len(written)


def _mark_read_on_phone(answers: Iterable[NewMessage]) -> None:
    """Mark conversations as read up to their last answer. The phone itself sends the read receipts."""
    last: dict[int, datetime] = {}
    for one in answers:
        last[one.conversation.id] = max(last.get(one.conversation.id, one.at), one.at)
    if last:
        with connection.cursor() as cursor:
            cursor.execute(READ_ON_PHONE, [integers(last.keys()), timestamps(last.values())])


def _own(message: NewMessage) -> OwnMessage:
    return OwnMessage(
        id=message.id,
        workspace_id=message.conversation.workspace_id,
        conversation_id=message.conversation.id,
        by_kind="elsewhere",
        by_label="",
        at=message.at,
    )


def _sent(fact: EchoReceived) -> StatusChanged:
    """Return the status that an echo proves for our message, whatever answer the sending call got."""
    return StatusChanged(
        channel=fact.channel,
        person=fact.person,
        at=fact.at,
        message_id=fact.message_id,
        status="sent",
        opaque=fact.opaque,
    )


def _match_own_messages(facts: Sequence[EchoReceived]) -> dict[int, bool]:
    """Find the facts about known messages. Return for each index whether it is news that the message was sent."""
    if not facts:
        return {}
    opaque: list[UUID | None] = [parse_uuid(fact.opaque) for fact in facts]
    columns = [
        integers([fact.channel.id for fact in facts]),
        texts([storable(fact.message_id) for fact in facts]),
        uuids(opaque),
        timestamps([fact.at for fact in facts]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(OURS, columns)
        return dict(cursor.fetchall())


def open_windows(facts: Sequence[ConversationTouched], *, now: datetime) -> int:
    """Open the window of people who called or followed a link. Return the number of applied facts.

    A new person becomes a contact with an open, empty conversation.
    """
    if not facts:
        return 0
    threads = conversations_of_people(facts, now=now)
    updates = updates_for(conversation for _, conversation in threads)
    for fact, conversation in threads:
        updates[conversation.id].open_window(fact.at)
    arrived = (conversation for _, conversation in threads)
    apply_updates(set_update_times(updates, arrived, now=now), now=now)
    touched = [one.conversation for one in updates.values()]
    record_conversation_events([(OPENED, one.workspace_id, one.id) for one in touched if one.is_new], now=now)
    announce_changes((one.workspace_id, one.id) for one in touched)
    _tell_referrals(threads, now)
    return len(threads)


def _tell_referrals(threads: Iterable[tuple[ConversationTouched, LockedConversation]], now: datetime) -> None:
    """Tell higher apps of the people who followed a link or an advertisement."""
    told = [
        IncomingReferral(
            channel=fact.channel,
            conversation_id=conversation.id,
            contact_id=conversation.contact_id,
            details=fact.details,
            at=fact.at,
        )
        for fact, conversation in threads
        if fact.details
    ]
    for handler in referral_handlers if told else ():
        handler.refer(told, now)


KEYWORD, BUTTON = Contact.OptOutSource.KEYWORD, Contact.OptOutSource.BUTTON


@dataclass(slots=True)
class ReceivedMessage:
    """A new message and the fact that reported it."""

    fact: MessageReceived
    message: NewMessage


def apply_opt_out_words(received: Sequence[ReceivedMessage], *, now: datetime) -> set[int]:
    """Opt contacts out and in as their messages ask, by the network's time. Confirm each opt-out to the contact.

    Return the messages that opt out, by primary key.
    """
    conversations: dict[int, int] = {}
    statements, opting_out = [], set()
    for one, source in _consent_messages(received):
        contact = one.message.conversation.contact_id
        if source:
            conversations[contact] = one.message.conversation.id
            opting_out.add(one.message.id)
        statements.append(ConsentStatement(contact, one.fact.at, source))
    if statements:
        gone = apply_consent_statements(statements=statements, now=now).opted_out
        confirm_opt_outs([conversations[contact] for contact in sorted(gone)], now=now)
    return opting_out


def _consent_messages(received: Iterable[ReceivedMessage]) -> Iterable[tuple[ReceivedMessage, str]]:
    """Yield the messages that opt out, with the source, and those that opt in, with an empty source."""
    short = [(one, keys) for one in received if (keys := keys_of(one.fact.text, one.fact.payload))]
    if not short:
        return
    chosen = own_words({one.message.conversation.workspace_id for one, _ in short})
    for one, keys in short:
        own = chosen.get(one.message.conversation.workspace_id, frozenset())
        if keys & OPT_OUT or keys & own:
            yield one, BUTTON if one.fact.type == "interactive" else KEYWORD
        elif keys & OPT_IN:
            yield one, ""


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
    updates = updates_for((one.message.conversation for one in received), beside=conversations)
    for one in received:
        updates[one.message.conversation.id].add(one.message)
    apply_updates(set_update_times(updates, conversations, now=now), now=now)
    write_files([(one.message, one.fact.file) for one in received if one.fact.file], now=now)
    apply_parked_changes(written, now=now)
    opting_out = apply_opt_out_words(received, now=now)
    _tell_received(received, opting_out, now)
    _record_events(updates.values(), [one.message for one in received], threads, now)
    return len(received)


def _tell_received(received: Iterable[ReceivedMessage], opting_out: Collection[int], now: datetime) -> None:
    """Tell higher apps of the new messages. The first one of a contact who never wrote before is marked."""
    told: list[IncomingMessage] = []
    known: set[int] = set()
    for one in received:
        conversation = one.message.conversation
        is_first = not conversation.has_written and conversation.contact_id not in known
        known.add(conversation.contact_id)
        told.append(_incoming(one, is_first, one.message.id in opting_out))
    for handler in received_message_handlers if told else ():
        handler.receive(told, now)


def _incoming(one: ReceivedMessage, is_first: bool, opts_out: bool) -> IncomingMessage:
    return IncomingMessage(
        id=one.message.id,
        channel=one.fact.channel,
        conversation_id=one.message.conversation.id,
        contact_id=one.message.conversation.contact_id,
        type=one.message.type,
        text=one.message.text[:LONGEST_TOLD_TEXT],
        payload=one.fact.payload,
        details=one.fact.details,
        at=one.message.at,
        is_first=is_first,
        opts_out=opts_out,
    )


def _draft(fact: MessageReceived, conversation: LockedConversation) -> Draft:
    details = {**fact.details, "payload": fact.payload} if fact.payload else fact.details
    return draft_of(conversation, fact.message_id, fact.type, fact.text, details, fact.at)


def _received(
    threads: Sequence[tuple[MessageReceived, LockedConversation]], written: dict[tuple[int, str], NewMessage]
) -> list[ReceivedMessage]:
    """Return the new messages in the order of their times, each with the first fact about it."""
    facts: dict[int, MessageReceived] = {}
    for fact, conversation in threads:
        message = written.get((conversation.channel_id, fact.message_id))
        if message is not None:
            facts.setdefault(message.id, fact)
    return [ReceivedMessage(facts[one.id], one) for one in written.values() if one.id in facts]


def _record_events(
    updates: Iterable[ConversationUpdate],
    messages: Sequence[NewMessage],
    threads: Sequence[tuple[MessageReceived, LockedConversation]],
    now: datetime,
) -> None:
    new = {one.id: one for _, one in threads if one.is_new}
    reopened = [one.conversation for one in updates if one.reopens]
    opened = [(OPENED, one.workspace_id, one.id) for one in new.values()]
    again = [(REOPENED, one.workspace_id, one.id) for one in reopened]
    record_conversation_events([*opened, *again], now=now)
    record_message_events([(RECEIVED, one.conversation.workspace_id, one.id) for one in messages], now=now)
    announce_changes((one.conversation.workspace_id, one.conversation.id) for one in messages)
