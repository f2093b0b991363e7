"""Applies what provider callbacks report about contacts, many at once: marketing choices, messages, changed ids."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from django.db import connection

from config.postgresql.arrays import booleans, integers, timestamps
from workspaces.contacts.models import ContactIdentity
from workspaces.contacts.services.people.matching import ChannelPerson, contacts_of_people
from workspaces.contacts.services.people.merging import join_contacts

# A choice's time is stored even if it changes nothing, so that an older one that is read later is ignored.
MARKETING = """
UPDATE contacts_contact contact
SET marketing_told_at = told.at,
    marketing_opted_out_at = CASE WHEN told.is_out THEN coalesce(contact.marketing_opted_out_at, told.at) END,
    updated_at = CASE WHEN told.was_out = told.is_out THEN contact.updated_at ELSE %s END
FROM (
    SELECT contact.id, told.at, told.is_out, contact.marketing_opted_out_at IS NOT NULL AS was_out
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::boolean[]) AS told (id, at, is_out)
    JOIN contacts_contact contact USING (id)
    WHERE coalesce(contact.marketing_told_at, contact.marketing_opted_out_at) IS NULL
        OR told.at > coalesce(contact.marketing_told_at, contact.marketing_opted_out_at)
        OR (told.is_out AND told.at = coalesce(contact.marketing_told_at, contact.marketing_opted_out_at))
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
) AS told
WHERE contact.id = told.id
"""


class MarketingWish(NamedTuple):
    """Whether a contact wants marketing, and the network's time of that choice."""

    contact: int
    at: datetime
    is_wanted: bool = False


def follow_marketing_wishes(*, wishes: Iterable[MarketingWish], now: datetime) -> None:
    """Opt contacts out of marketing, or in again, by the newest choice of each. At equal times the opt-out counts."""
    last: dict[int, MarketingWish] = {}
    for wish in sorted(wishes, key=lambda one: (one.at, not one.is_wanted)):
        last[wish.contact] = wish
    if last:
        columns = [
            integers(last),
            timestamps([wish.at for wish in last.values()]),
            booleans([not wish.is_wanted for wish in last.values()]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(MARKETING, [now, *columns])


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


class Renaming(NamedTuple):
    """A person's ids before and after a change, and the network's time of the change."""

    before: ChannelPerson
    after: ChannelPerson
    at: datetime


def rename_people(*, people: Iterable[Renaming], now: datetime) -> None:
    """Give people's identities their new ids. An id that was reported later, by the network's time, stays.

    Unknown people are skipped. If both ids are known, their contacts are merged.
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
        contacts_of_people(people=[after], now=now, told={after: at})


def _identity(person: ChannelPerson) -> ContactIdentity | None:
    rows = ContactIdentity.objects.filter(channel=person.channel_id).order_by("pk").select_for_update(no_key=True)
    found = rows.filter(external_id=person.external_id).first() if person.external_id else None
    if found is None and person.user_id:
        found = rows.filter(user_id=person.user_id).first()
    return found
