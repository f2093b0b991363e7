"""People whose ids change, and what they want of marketing, as the network tells."""

from collections.abc import Sequence
from datetime import datetime

from workspaces.contacts.services.people.matching import contacts_of_people
from workspaces.contacts.services.people.network_changes import change_marketing_opt_outs, rename_people
from workspaces.conversations.facts import IdentityChanged, MarketingPreferenceChanged
from workspaces.conversations.services.inbound.people import channel_person, is_somebody


def change_identities(facts: Sequence[IdentityChanged], *, now: datetime) -> int:
    """Let people keep their contacts and conversations under the ids that they have now; says of how many."""
    told = [fact for fact in facts if is_somebody(fact.person) and is_somebody(fact.becomes)]
    renamed = [(channel_person(fact.channel, fact.person), channel_person(fact.channel, fact.becomes)) for fact in told]
    rename_people(people=renamed, now=now)
    return len(told)


def change_marketing_preferences(facts: Sequence[MarketingPreferenceChanged], *, now: datetime) -> int:
    """Keep who wants no marketing; the last word of each counts. Says of how many people."""
    told = sorted((fact for fact in facts if is_somebody(fact.person)), key=lambda fact: fact.at)
    people = {channel_person(fact.channel, fact.person): fact for fact in told}
    contacts = contacts_of_people(people=people, now=now).contacts
    wishes = {contacts[person]: fact for person, fact in people.items()}
    change_marketing_opt_outs(
        out={contact: fact.at for contact, fact in wishes.items() if not fact.wants_marketing},
        back=[contact for contact, fact in wishes.items() if fact.wants_marketing],
        now=now,
    )
    return len(wishes)
