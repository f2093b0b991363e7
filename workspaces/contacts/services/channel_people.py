"""Finds or creates the contacts of people in provider callbacks, and applies what callbacks report about them.

Both work on many people at once, safely beside other workers. A person is known by the network's id within a channel,
or by WhatsApp's business-scoped id. A callback with both ids links them. A callback with a phone number finds the
contact that has it. Each new person becomes a contact, even beyond the plan's limit, so that people can always write.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction

from config.db import dictfetchall
from config.postgresql.arrays import integers, texts, timestamps
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.models.contacts import LONGEST_NAME, search_key
from workspaces.contacts.services.contact_rows import (
    CREATE_BY_ID,
    CREATE_BY_PHONE,
    FILL_CONTACTS,
    FIND_PEOPLE,
    UPDATE_IDENTITIES,
)
from workspaces.contacts.services.contacts import join_contacts, keep_other_phones, lock_contact, update_contact
from workspaces.contacts.services.events import record_created
from workspaces.contacts.services.fields import Phone, read_phone

NO_PHONE = Phone("", None, None)
NO_TIMES: Mapping["ChannelPerson", datetime] = {}
# Another worker may create or merge the same person between two look-ups. So often is not expected in one call.
MOST_LOOKUPS = 5


class ConcurrentChange(RuntimeError):
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
class MatchedContacts:
    """The primary key of each person's contact, and the keys of the new contacts."""

    contacts: dict[ChannelPerson, int] = field(default_factory=dict)
    created: set[int] = field(default_factory=set)
    has_joined: bool = False

    def new_alone(self) -> set[int]:
        """Return the new contacts of exactly one person each. Nobody else sees them before the commit."""
        people = Counter() if self.has_joined else Counter(self.contacts.values())
        return {contact for contact in self.created if people[contact] == 1}


def find_or_create_contacts(
    *,
    people: Collection[ChannelPerson],
    now: datetime,
    last_inbound_times: Mapping[ChannelPerson, datetime] = NO_TIMES,
    reported_at: Mapping[ChannelPerson, datetime] = NO_TIMES,
) -> MatchedContacts:
    """Find the contacts of people on channels and create the missing ones, inside the caller's transaction.

    This takes one SQL statement if all are known, and one or two more for any number of new people. Phone numbers,
    names and ids from the network fill empty columns. `last_inbound_times` is when people wrote. New contacts get it as
    `last_inbound_at`; for known ones the caller must call `record_last_inbound`. `reported_at` is when the network last
    reported their ids; the default is `now`.
    """
    looked_for: Sequence[ChannelPerson] = list(dict.fromkeys(people))
    found = MatchedContacts()
    with transaction.atomic(savepoint=False):
        for _ in range(MOST_LOOKUPS):
            looked_for = _find_or_create(looked_for, found, now, last_inbound_times, reported_at)
            if not looked_for:
                break
        else:
            raise ConcurrentChange
        if found.created:
            record_created(found.created, {person.workspace_id for person in people}, now=now)
    return found


def _find_or_create(
    people: Sequence[ChannelPerson],
    found: MatchedContacts,
    now: datetime,
    last_inbound_times: Mapping[ChannelPerson, datetime],
    reported_at: Mapping[ChannelPerson, datetime],
) -> Sequence[ChannelPerson]:
    """Find, merge or create contacts once. Return the people who must be looked up again."""
    known = [MatchedPerson(people[row["number"]], row) for row in _run(FIND_PEOPLE, **_ids(people))]
    joined = [one for one in known if one.is_two_contacts and _merge_contacts(one, now)]
    if joined:
        found.has_joined = True
        return people  # any of them may have had the contact that the merge removed
    found.contacts |= {one.person: one.contact for one in known if one.contact}
    _save_reported(known, now, reported_at)
    unknown = [one.person for one in known if not one.contact]
    made = _create(unknown, now, last_inbound_times, reported_at)
    found.created.update(row["contact"] for row in made)
    certain = _unambiguous(unknown, made)
    found.contacts |= certain
    return [person for person in unknown if person not in certain]


class MatchedPerson:
    """A person of a callback with the matching row of `FIND_PEOPLE`."""

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


def _differs(reported: str, known: str) -> bool:
    return bool(reported) and _short(reported) != known


def _short(name: str) -> str:
    return name[:LONGEST_NAME]


def _merge_contacts(known: MatchedPerson, now: datetime) -> bool:
    """Merge the contacts of one person into the one with the phone number, else into the one with the network's id."""
    row, person = known.row, known.person
    others = {row["external_contact"], row["user_contact"], row["phone_contact"]} - {None}
    if known.is_two_identities:
        ContactIdentity.objects.filter(pk=row["user_identity"]).delete()
        ContactIdentity.objects.filter(pk=row["external_identity"]).update(user_id=person.user_id)
    kept = row["phone_contact"] or row["external_contact"]
    join_contacts(kept=kept, others=others - {kept}, now=now)
    return True


def _save_reported(
    known: Iterable[MatchedPerson], now: datetime, reported_at: Mapping[ChannelPerson, datetime]
) -> None:
    """Store the ids, names and phone numbers that the network has reported."""
    present = [one for one in known if one.contact]
    in_order = sorted(present, key=lambda one: reported_at.get(one.person, now))
    news = {one.identity: one.person for one in in_order if one.news}
    fills = {one.contact: one for one in present if one.fills}
    if not (news or fills):
        return
    try:
        with transaction.atomic():
            if news:
                times = timestamps([reported_at.get(person, now) for person in news.values()])
                _execute(UPDATE_IDENTITIES, identities=integers(news), times=times, **_reported_columns(news.values()))
            if fills:
                _execute(FILL_CONTACTS, now=now, **_filled_columns(fills.values()))
    except IntegrityError:
        return  # another worker has just given an id or number to another row; the person's next callback merges them


def _create(
    people: Sequence[ChannelPerson],
    now: datetime,
    last_inbound_times: Mapping[ChannelPerson, datetime],
    reported_at: Mapping[ChannelPerson, datetime],
) -> list[dict[str, Any]]:
    """Create contacts. Return the new ones, one row for each identity inserted with them."""
    with_phone = [person for person in people if person.phone]
    without = [person for person in people if not person.phone]
    made: list[dict[str, Any]] = []
    for statement, some in ((CREATE_BY_PHONE, with_phone), (CREATE_BY_ID, without)):
        if some:
            times = {
                "inbound_times": timestamps([last_inbound_times.get(person) for person in some]),
                "reported_times": timestamps([reported_at.get(person, now) for person in some]),
            }
            made += _run(statement, now=now, **times, **_ids(some), **_details(some))
    return made


def _unambiguous(unknown: Iterable[ChannelPerson], made: Collection[dict[str, Any]]) -> dict[ChannelPerson, int]:
    """Return the new contacts of exactly one person each. The others are looked up again, as they may get more data."""
    times_made = Counter(row["contact"] for row in made)
    asked: dict[tuple[int, str | None, str | None], list[ChannelPerson]] = {}
    for person in unknown:
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


def _reported_columns(people: Iterable[ChannelPerson]) -> dict[str, str]:
    some = list(people)
    return {
        "external_ids": texts([person.external_id or None for person in some]),
        "user_ids": texts([person.user_id or None for person in some]),
        "names": texts([_short(person.name) for person in some]),
        "usernames": texts([_short(person.username) for person in some]),
    }


def _filled_columns(known: Iterable[MatchedPerson]) -> dict[str, str]:
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


def _run(statement: str, **values: str | datetime) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return dictfetchall(cursor)


def _execute(statement: str, **values: str | datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


# The time only moves forward, because callbacks come in any order. Rows are locked in one order.
RECORD_INBOUND = """
WITH written AS (
    SELECT contact.id, told.at
    FROM unnest(%s::bigint[], %s::timestamptz[]) AS told (id, at)
    JOIN contacts_contact contact USING (id)
    WHERE contact.last_inbound_at IS NULL OR contact.last_inbound_at < told.at
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
)
UPDATE contacts_contact contact SET last_inbound_at = written.at FROM written WHERE contact.id = written.id
"""


def record_last_inbound(*, times: Mapping[int, datetime]) -> None:
    """Set when contacts last wrote, by primary key, in one statement for any number of them."""
    if times:
        with connection.cursor() as cursor:
            cursor.execute(RECORD_INBOUND, [integers(times), timestamps(times.values())])


class IdentityChange(NamedTuple):
    """A person's ids before and after a change, and the network's time of the change."""

    before: ChannelPerson
    after: ChannelPerson
    at: datetime


def apply_identity_changes(*, people: Iterable[IdentityChange], now: datetime) -> None:
    """Give people's identities their new ids. An id that was reported later, by the network's time, stays.

    Unknown people are skipped. If both ids are known, their contacts are merged. A contact that had the old phone
    number gets the new one.
    """
    for before, after, at in sorted(people, key=attrgetter("at")):
        known = _identity(before)
        if known is None or (known.ids_told_at is not None and known.ids_told_at > at):
            continue
        other = _identity(after)
        if other is None:
            known.external_id = after.external_id or known.external_id
            known.user_id = after.user_id or known.user_id
            known.ids_told_at = at
            known.save(update_fields=["external_id", "user_id", "ids_told_at"])
        elif other.contact_id != known.contact_id:
            join_contacts(kept=known.contact_id, others=[other.contact_id], now=now)
        _take_new_phone(known.contact_id, before, after, now)
        find_or_create_contacts(people=[after], now=now, reported_at={after: at})


def _take_new_phone(contact_id: int, before: ChannelPerson, after: ChannelPerson, now: datetime) -> None:
    """Give a contact the new phone number in place of the old one, which stays among its attributes."""
    if not before.phone or before.phone == after.phone or not read_phone(after.phone):
        return
    same = Contact.objects.filter(workspace=after.workspace_id, phone=after.phone).exclude(pk=contact_id)
    contact = Contact.objects.select_related("workspace").filter(pk=contact_id, phone=before.phone).first()
    if contact is None:
        return
    join_contacts(kept=contact_id, others=list(same.values_list("pk", flat=True)), now=now)
    contact = lock_contact(contact)
    held = {name: text for name, text in contact.attributes.items() if text != after.phone}
    contact.phone, contact.attributes = after.phone, held
    keep_other_phones(contact, [before.phone])
    update_contact(contact=contact, phone=after.phone, attributes=contact.attributes, now=now)


def _identity(person: ChannelPerson) -> ContactIdentity | None:
    rows = ContactIdentity.objects.filter(channel=person.channel_id).order_by("pk").select_for_update(no_key=True)
    found = rows.filter(external_id=person.external_id).first() if person.external_id else None
    if found is None and person.user_id:
        found = rows.filter(user_id=person.user_id).first()
    return found
