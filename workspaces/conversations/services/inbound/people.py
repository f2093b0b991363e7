"""Finds the contact and the conversation of the person in a fact."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from workspaces.contacts.services.people.matching import ChannelPerson, FoundPeople, contacts_of_people
from workspaces.conversations.facts import ChannelReference, ConversationFact, Person
from workspaces.conversations.services.inbound.conversations import LockedConversation, open_conversations

Fact = TypeVar("Fact", bound=ConversationFact)


def is_somebody(person: Person) -> bool:
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
    facts: Sequence[Fact], *, now: datetime, are_theirs: bool = True
) -> list[tuple[Fact, LockedConversation]]:
    """Return each fact with its person's locked conversation. Create missing contacts and conversations.

    `apply_activities` inserts the conversation of a new contact. Facts about a person without an id are left out.
    `are_theirs` means that the people acted themselves, so the facts' times are their last inbound times.
    """
    known = [fact for fact in facts if is_somebody(fact.person)]
    asked, found = _contacts(known, now, are_theirs)
    contacts = {key: (key[0], found.contacts[person]) for key, person in asked.items()}
    channels = {fact.channel.id: fact.channel for fact in known}
    wanted = {key: channels[key[0]] for key in contacts.values()}
    opened = open_conversations(wanted, now=now, strangers=found.new_alone())
    return [(fact, opened[contacts[fact.channel.id, fact.person]]) for fact in known]


def _contacts(
    facts: Iterable[ConversationFact], now: datetime, are_theirs: bool
) -> tuple[Mapping[tuple[int, Person], ChannelPerson], FoundPeople]:
    """Return the `ChannelPerson` of each channel and person, and their contacts."""
    asked: dict[tuple[int, Person], ChannelPerson] = {}
    told: dict[ChannelPerson, datetime] = {}
    for fact in facts:
        key = (fact.channel.id, fact.person)
        person = asked.get(key)
        if person is None:
            person = asked[key] = channel_person(fact.channel, fact.person)
        told[person] = max(told.get(person, fact.at), fact.at)
    heard = told if are_theirs else {}
    return asked, contacts_of_people(people=asked.values(), now=now, heard=heard, told=told)
