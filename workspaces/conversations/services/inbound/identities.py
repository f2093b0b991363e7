"""Applies changes of people's ids and of their marketing preferences."""

from collections.abc import Sequence
from datetime import datetime

from workspaces.contacts.services.people.matching import ChannelPerson, contacts_of_people
from workspaces.contacts.services.people.network_changes import (
    MarketingWish,
    Renaming,
    follow_marketing_wishes,
    rename_people,
)
from workspaces.conversations.facts import IdentityChanged, MarketingPreferenceChanged
from workspaces.conversations.services.inbound.people import channel_person, is_somebody


def change_identities(facts: Sequence[IdentityChanged], *, now: datetime) -> int:
    """Give people's identities their new ids, so that contacts and conversations stay. Return how many were applied."""
    told = [fact for fact in facts if is_somebody(fact.person) and is_somebody(fact.becomes)]
    renamed = [
        Renaming(channel_person(fact.channel, fact.person), channel_person(fact.channel, fact.becomes), fact.at)
        for fact in told
    ]
    rename_people(people=renamed, now=now)
    return len(told)


def change_marketing_preferences(facts: Sequence[MarketingPreferenceChanged], *, now: datetime) -> int:
    """Apply the newest marketing preference of each person, by the network's time. Return the number of contacts."""
    told = [(channel_person(fact.channel, fact.person), fact) for fact in facts if is_somebody(fact.person)]
    times: dict[ChannelPerson, datetime] = {}
    for person, fact in told:
        times[person] = max(times.get(person, fact.at), fact.at)
    contacts = contacts_of_people(people=times, now=now, told=times).contacts
    wishes = [MarketingWish(contacts[person], fact.at, fact.wants_marketing) for person, fact in told]
    follow_marketing_wishes(wishes=wishes, now=now)
    return len(set(contacts.values()))
