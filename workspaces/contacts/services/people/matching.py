"""Finds or creates the contacts of people in provider callbacks, many at once, safely beside other workers.

A person is known by the network's id within a channel, or by WhatsApp's business-scoped id. A callback with both ids
links them. A callback with a phone number finds the contact that has it. Each new person becomes a contact, even beyond
the plan's limit, so that people can always write.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction

from config.db import dictfetchall
from config.postgresql.arrays import integers, texts, timestamps
from workspaces.contacts.models import ContactIdentity
from workspaces.contacts.models.contacts import LONGEST_NAME, search_key
from workspaces.contacts.services.events import record_created
from workspaces.contacts.services.fields.phones import Phone, read_phone
from workspaces.contacts.services.people.merging import join_contacts
from workspaces.contacts.services.people.statements import FILL, FIND, LINK, MAKE_BY_ID, MAKE_BY_PHONE

NO_PHONE = Phone("", None, None)
NOBODY: Mapping[Any, datetime] = {}
# Another worker may create or merge the same person between two look-ups. So often is not expected in one call.
MOST_LOOKS = 5


class PeopleKeepChanging(RuntimeError):
    """Other workers keep changing a person. The caller must repeat its transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPerson:
    """A person on a channel, with `external_id`, `user_id` or both. `phone` is E.164."""

    channel_id: int
    workspace_id: int
    external_id: str = ""
    user_id: str = ""
    phone: str = ""
    name: str = ""
    username: str = ""


@dataclass(slots=True)
class FoundPeople:
    """The primary key of each person's contact, and the keys of the new contacts."""

    contacts: dict[ChannelPerson, int] = field(default_factory=dict)
    created: set[int] = field(default_factory=set)
    has_joined: bool = False

    def new_alone(self) -> set[int]:
        """Return the new contacts of exactly one person each. Nobody else sees them before the commit."""
        people = Counter() if self.has_joined else Counter(self.contacts.values())
        return {contact for contact in self.created if people[contact] == 1}


def contacts_of_people(
    *,
    people: Collection[ChannelPerson],
    now: datetime,
    heard: Mapping[ChannelPerson, datetime] = NOBODY,
    told: Mapping[ChannelPerson, datetime] = NOBODY,
) -> FoundPeople:
    """Find the contacts of people on channels and create the missing ones, inside the caller's transaction.

    This takes one SQL statement if all are known, and one or two more for any number of new people. Phone numbers,
    names and ids from the network fill empty columns. `heard` is when people wrote. New contacts get it as
    `last_inbound_at`; for known ones the caller must call `record_last_inbound`. `told` is when the network last
    reported their ids; the default is `now`.
    """
    looked_for: Sequence[ChannelPerson] = list(dict.fromkeys(people))
    found = FoundPeople()
    with transaction.atomic(savepoint=False):
        for _ in range(MOST_LOOKS):
            looked_for = _look(looked_for, found, now, heard, told)
            if not looked_for:
                break
        else:
            raise PeopleKeepChanging
        if found.created:
            record_created(found.created, {person.workspace_id for person in people}, now=now)
    return found


def _look(
    people: Sequence[ChannelPerson],
    found: FoundPeople,
    now: datetime,
    heard: Mapping[ChannelPerson, datetime],
    told: Mapping[ChannelPerson, datetime],
) -> Sequence[ChannelPerson]:
    """Find, merge or create contacts once. Return the people who must be looked up again."""
    known = [Known(people[row["number"]], row) for row in _run(FIND, **_ids(people))]
    joined = [one for one in known if one.is_two_contacts and _join(one, now)]
    if joined:
        found.has_joined = True
        return people  # any of them may have had the contact that the merge removed
    found.contacts |= {one.person: one.contact for one in known if one.contact}
    _tell(known, now, told)
    strangers = [one.person for one in known if not one.contact]
    made = _make(strangers, now, heard, told)
    found.created.update(row["contact"] for row in made)
    certain = _certain(strangers, made)
    found.contacts |= certain
    return [person for person in strangers if person not in certain]


class Known:
    """A person of a callback with the matching row of `FIND`."""

    def __init__(self, person: ChannelPerson, row: dict[str, Any]) -> None:
        self.person, self.row = person, row
        self.contact: int = row["external_contact"] or row["user_contact"] or 0
        self.identity: int = row["external_identity"] or row["user_identity"] or 0

    @property
    def is_two_identities(self) -> bool:
        """Whether the person has two identities, one for each id, because both ids never came together before."""
        row = self.row
        if not (row["external_identity"] and row["user_identity"]) or row["external_identity"] == row["user_identity"]:
            return False
        return row["known_user_id"] is None and row["known_external_id"] is None

    @property
    def is_two_contacts(self) -> bool:
        return self.is_two_identities or bool(self.contact and self.row["phone_contact"])

    @property
    def news(self) -> bool:
        """Whether the callback brings a new id or name for the identity."""
        person, row = self.person, self.row
        if row["external_identity"] and row["user_identity"]:
            linked = True
        elif row["external_identity"]:
            linked = not person.user_id
        else:
            linked = not person.external_id
        return (
            not linked or _differs(person.name, row["known_name"]) or _differs(person.username, row["known_username"])
        )

    @property
    def fills(self) -> bool:
        """Whether the callback brings a name or phone number that the contact lacks."""
        row, person = self.row, self.person
        return bool((person.name and not row["contact_name"]) or (person.phone and not row["contact_phone"]))


def _differs(told: str, known: str) -> bool:
    return bool(told) and _short(told) != known


def _short(name: str) -> str:
    return name[:LONGEST_NAME]


def _join(known: Known, now: datetime) -> bool:
    """Merge the contacts of one person into the one with the phone number, else into the one with the network's id."""
    row, person = known.row, known.person
    others = {row["external_contact"], row["user_contact"], row["phone_contact"]} - {None}
    if known.is_two_identities:
        ContactIdentity.objects.filter(pk=row["user_identity"]).delete()
        ContactIdentity.objects.filter(pk=row["external_identity"]).update(user_id=person.user_id)
    kept = row["phone_contact"] or row["external_contact"]
    join_contacts(kept=kept, others=others - {kept}, now=now)
    return True


def _tell(known: Iterable[Known], now: datetime, told: Mapping[ChannelPerson, datetime]) -> None:
    """Store the ids, names and phone numbers that the network has reported."""
    present = [one for one in known if one.contact]
    in_order = sorted(present, key=lambda one: told.get(one.person, now))
    news = {one.identity: one.person for one in in_order if one.news}
    fills = {one.contact: one for one in present if one.fills}
    if not (news or fills):
        return
    try:
        with transaction.atomic():
            if news:
                times = timestamps([told.get(person, now) for person in news.values()])
                _execute(LINK, identities=integers(news), times=times, **_told(news.values()))
            if fills:
                _execute(FILL, now=now, **_fillings(fills.values()))
    except IntegrityError:
        return  # another worker has just given an id or number to another row; the person's next callback merges them


def _make(
    people: Sequence[ChannelPerson],
    now: datetime,
    heard: Mapping[ChannelPerson, datetime],
    told: Mapping[ChannelPerson, datetime],
) -> list[dict[str, Any]]:
    """Create contacts. Return the new ones, one row for each identity inserted with them."""
    with_phone = [person for person in people if person.phone]
    without = [person for person in people if not person.phone]
    made: list[dict[str, Any]] = []
    for statement, some in ((MAKE_BY_PHONE, with_phone), (MAKE_BY_ID, without)):
        if some:
            times = {
                "heard": timestamps([heard.get(person) for person in some]),
                "told": timestamps([told.get(person, now) for person in some]),
            }
            made += _run(statement, now=now, **times, **_ids(some), **_details(some))
    return made


def _certain(strangers: Iterable[ChannelPerson], made: Collection[dict[str, Any]]) -> dict[ChannelPerson, int]:
    """Return the new contacts of exactly one person each. The others are looked up again, as they may get more data."""
    times_made = Counter(row["contact"] for row in made)
    asked: dict[Any, list[ChannelPerson]] = {}
    for person in strangers:
        asked.setdefault((person.channel_id, person.external_id or None, person.user_id or None), []).append(person)
    certain: dict[ChannelPerson, int] = {}
    for row in made:
        people = asked.get((row["channel_id"], row["external_id"], row["user_id"]), [])
        if len(people) == 1 and times_made[row["contact"]] == 1:
            certain[people[0]] = row["contact"]
    return certain


def _ids(people: Iterable[ChannelPerson]) -> dict[str, str]:
    some = list(people)
    return {
        "channels": integers([person.channel_id for person in some]),
        "workspaces": integers([person.workspace_id for person in some]),
        "external_ids": texts([person.external_id or None for person in some]),
        "user_ids": texts([person.user_id or None for person in some]),
        "phones": texts([person.phone or None for person in some]),
    }


def _details(people: Sequence[ChannelPerson]) -> dict[str, str]:
    phones = [_phone(person) for person in people]
    return {
        "names": texts([_short(person.name) for person in people]),
        "usernames": texts([_short(person.username) for person in people]),
        "countries": texts([phone.country for phone in phones]),
        "timezones": texts([phone.timezone for phone in phones]),
        "search_keys": texts([search_key(_short(person.name), person.phone, None) for person in people]),
    }


def _phone(person: ChannelPerson) -> Phone:
    return (read_phone(person.phone) if person.phone else None) or NO_PHONE


def _told(people: Iterable[ChannelPerson]) -> dict[str, str]:
    some = list(people)
    return {
        "external_ids": texts([person.external_id or None for person in some]),
        "user_ids": texts([person.user_id or None for person in some]),
        "names": texts([_short(person.name) for person in some]),
        "usernames": texts([_short(person.username) for person in some]),
    }


def _fillings(known: Iterable[Known]) -> dict[str, str]:
    some = list(known)
    phones = [_phone(one.person) for one in some]
    names = [one.row["contact_name"] or _short(one.person.name) for one in some]
    numbers = [one.row["contact_phone"] or one.person.phone or None for one in some]
    emails = [one.row["contact_email"] for one in some]
    old = [(one.row["contact_name"], one.row["contact_phone"], one.row["contact_email"]) for one in some]
    return {
        "contacts": integers([one.contact for one in some]),
        "names": texts(names),
        "phones": texts(numbers),
        "countries": texts([phone.country for phone in phones]),
        "timezones": texts([phone.timezone for phone in phones]),
        "search_keys": texts(map(search_key, names, numbers, emails)),
        "old_keys": texts([search_key(*values) for values in old]),
    }


def _run(statement: str, **values: Any) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return dictfetchall(cursor)


def _execute(statement: str, **values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
