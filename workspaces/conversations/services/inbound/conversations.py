"""Finds the contacts and conversations of the people in facts, locks them, and applies changes of people's ids."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db import connection

from config.postgresql.arrays import integers
from workspaces.contacts.services.channel_people import (
    ChannelPerson,
    IdentityChange,
    MatchedContacts,
    apply_identity_changes,
    find_or_create_contacts,
)
from workspaces.contacts.services.opt_outs import MarketingChoice, apply_marketing_choices
from workspaces.conversations.facts import (
    ChannelReference,
    ConversationFact,
    IdentityChanged,
    MarketingPreferenceChanged,
    Person,
)

Key = tuple[int, int]

# Our last message may have got the network's time since `last_message_at` was written. Where a conversation ends with a
# message of ours, one of the contact is searched for. The limit keeps PostgreSQL from reading all messages for that.
FIND = """
SELECT conversation.id, conversation.channel_id, conversation.contact_id, conversation.workspace_id,
    conversation.status, conversation.read_up_to, coalesce(last.provider_time, conversation.last_message_at),
    conversation.last_message_direction = 'in' OR (
        SELECT true FROM conversations_conversation AS beside JOIN conversations_message AS message
            ON message.conversation_id = beside.id AND message.direction = 'in'
        WHERE beside.contact_id = conversation.contact_id LIMIT 1) IS NOT NULL
FROM conversations_conversation conversation
JOIN unnest(%s::bigint[], %s::bigint[]) AS wanted (channel_id, contact_id) USING (channel_id, contact_id)
LEFT JOIN conversations_message last ON last.id = conversation.last_message
ORDER BY conversation.id FOR NO KEY UPDATE OF conversation
"""
OPEN = """
INSERT INTO conversations_conversation (uuid, workspace_id, channel_id, contact_id, status, unread_count,
    last_message_direction, last_message_preview, created_at, updated_at)
SELECT gen_random_uuid(), workspace_id, channel_id, contact_id, 'open', 0, '', '', %s, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS new (workspace_id, channel_id, contact_id)
ORDER BY channel_id, contact_id
ON CONFLICT (channel_id, contact_id) DO NOTHING RETURNING id
"""
RESERVE = "SELECT nextval('conversations_conversation_id_seq') FROM generate_series(1, %s)"


@dataclass(slots=True)
class LockedConversation:
    """A conversation's state when its row was locked. `is_new` means that it has just been opened.

    `has_written` says that a message of its contact is kept already, on any channel.
    A conversation that `is_unsaved` has an id but no row yet. It is inserted once, with the changes of its messages.
    """

    id: int
    channel_id: int
    contact_id: int
    workspace_id: int
    status: str = "open"
    read_up_to: datetime | None = None
    last_message_at: datetime | None = None
    has_written: bool = False
    is_new: bool = False
    is_unsaved: bool = False


def lock_conversations(keys: Collection[Key]) -> dict[Key, LockedConversation]:
    """Lock the existing conversations of these channels and contacts, in the order of their ids."""
    if not keys:
        return {}
    channels, contacts = zip(*keys, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(FIND, [integers(channels), integers(contacts)])
        found = [LockedConversation(*row) for row in cursor.fetchall()]
    return {(one.channel_id, one.contact_id): one for one in found}


def open_conversations(
    wanted: Mapping[Key, ChannelReference], *, now: datetime, new_contacts: Collection[int] = ()
) -> dict[Key, LockedConversation]:
    """Lock the conversation of each of these channels and contacts, and open the missing ones.

    A reader that opens the same conversation at the same time gets the same row. `new_contacts` are contacts created in
    this transaction, which nobody else sees. Their conversations only get ids here, and `apply_updates` inserts
    them.
    """
    found = _reserved({key: channel for key, channel in wanted.items() if key[1] in new_contacts})
    found |= lock_conversations([key for key in wanted if key not in found])
    missing = [(key, channel) for key, channel in wanted.items() if key not in found]
    if missing:
        opened = set(_open(missing, now))
        for key, one in lock_conversations([key for key, _ in missing]).items():
            one.is_new = one.id in opened
            found[key] = one
    return found


def _reserved(wanted: Mapping[Key, ChannelReference]) -> dict[Key, LockedConversation]:
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(RESERVE, [len(wanted)])
        numbers = [row[0] for row in cursor.fetchall()]
    return {
        key: LockedConversation(number, *key, channel.workspace_id, is_new=True, is_unsaved=True)
        for number, (key, channel) in zip(numbers, wanted.items(), strict=True)
    }


def _open(missing: Iterable[tuple[Key, ChannelReference]], now: datetime) -> list[int]:
    rows = [(channel.workspace_id, *key) for key, channel in missing]
    columns = [integers(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(OPEN, [now, now, *columns])
        return [row[0] for row in cursor.fetchall()]


Fact = TypeVar("Fact", bound=ConversationFact)


def has_id(person: Person) -> bool:
    """Return whether the network has reported an id of the person."""
    return bool(person.external_id or person.user_id)


def channel_person(channel: ChannelReference, person: Person) -> ChannelPerson:
    """Convert a person into the form that contacts use."""
    return ChannelPerson(
        channel_id=channel.id,
        workspace_id=channel.workspace_id,
        external_id=person.external_id,
        user_id=person.user_id,
        phone=person.phone,
        name=person.name,
        username=person.username,
    )


def conversations_of_people(
    facts: Sequence[Fact], *, now: datetime, are_inbound: bool = True, are_past: bool = False
) -> list[tuple[Fact, LockedConversation]]:
    """Return each fact with its person's locked conversation. Create missing contacts and conversations.

    `apply_updates` inserts the conversation of a new contact. Facts about a person without an id are left out.
    `are_inbound` means that the people acted themselves, so the facts' times are their last inbound times. With
    `are_past` all new conversations are inserted here.
    """
    known = [fact for fact in facts if has_id(fact.person)]
    asked, found = _contacts(known, now, are_inbound)
    contacts = {key: (key[0], found.contacts[person]) for key, person in asked.items()}
    channels = {fact.channel.id: fact.channel for fact in known}
    wanted = {key: channels[key[0]] for key in contacts.values()}
    opened = open_conversations(wanted, now=now, new_contacts=() if are_past else found.new_alone())
    return [(fact, opened[contacts[fact.channel.id, fact.person]]) for fact in known]


def _contacts(
    facts: Iterable[ConversationFact], now: datetime, are_inbound: bool
) -> tuple[Mapping[tuple[int, Person], ChannelPerson], MatchedContacts]:
    """Return the `ChannelPerson` of each channel and person, and their contacts."""
    asked: dict[tuple[int, Person], ChannelPerson] = {}
    reported_at: dict[ChannelPerson, datetime] = {}
    for fact in facts:
        key = (fact.channel.id, fact.person)
        person = asked.get(key)
        if person is None:
            person = asked[key] = channel_person(fact.channel, fact.person)
        reported_at[person] = max(reported_at.get(person, fact.at), fact.at)
    times = reported_at if are_inbound else {}
    return asked, find_or_create_contacts(
        people=asked.values(), now=now, last_inbound_times=times, reported_at=reported_at
    )


def change_identities(facts: Sequence[IdentityChanged], *, now: datetime) -> int:
    """Give people's identities their new ids, so that contacts and conversations stay. Return how many were applied."""
    known = [fact for fact in facts if has_id(fact.person) and has_id(fact.becomes)]
    changes = [
        IdentityChange(channel_person(fact.channel, fact.person), channel_person(fact.channel, fact.becomes), fact.at)
        for fact in known
    ]
    apply_identity_changes(people=changes, now=now)
    return len(known)


def change_marketing_preferences(facts: Sequence[MarketingPreferenceChanged], *, now: datetime) -> int:
    """Apply the newest marketing preference of each person, by the network's time. Return the number of contacts."""
    known = [(channel_person(fact.channel, fact.person), fact) for fact in facts if has_id(fact.person)]
    times: dict[ChannelPerson, datetime] = {}
    for person, fact in known:
        times[person] = max(times.get(person, fact.at), fact.at)
    contacts = find_or_create_contacts(people=times, now=now, reported_at=times).contacts
    choices = [MarketingChoice(contacts[person], fact.at, fact.wants_marketing) for person, fact in known]
    apply_marketing_choices(choices=choices, now=now)
    return len(set(contacts.values()))
