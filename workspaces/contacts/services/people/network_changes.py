"""What networks tell of contacts, for whoever reads callbacks: marketing, ids that change; many at once."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db import connection

from config.leases.arrays import integers, moments
from workspaces.contacts.models import ContactIdentity
from workspaces.contacts.services.people.matching import ChannelPerson, contacts_of_people
from workspaces.contacts.services.people.merging import join_contacts

MARKETING = """
UPDATE contacts_contact contact SET marketing_opted_out_at = told.at, updated_at = %s
FROM (
    SELECT contact.id, told.at FROM unnest(%s::bigint[], %s::timestamptz[]) AS told (id, at)
    JOIN contacts_contact contact USING (id)
    WHERE (contact.marketing_opted_out_at IS NULL) <> (told.at IS NULL)
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
) AS told
WHERE contact.id = told.id
"""


def change_marketing_opt_outs(*, out: Mapping[int, datetime], back: Iterable[int], now: datetime) -> None:
    """Keep since when contacts want no marketing (`out`), and who wants it again (`back`)."""
    told: dict[int, datetime | None] = {**out, **dict.fromkeys(back)}
    if told:
        with connection.cursor() as cursor:
            cursor.execute(MARKETING, [now, integers(told), moments(told.values())])


# Only forwards: callbacks come in any order. Rows are locked in one order.
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
    """Keep when contacts, by their numbers, have last written: one statement for any number of them."""
    if times:
        with connection.cursor() as cursor:
            cursor.execute(RECORD_INBOUND, [integers(times), moments(times.values())])


def rename_people(*, people: Sequence[tuple[ChannelPerson, ChannelPerson]], now: datetime) -> None:
    """Let people keep their contacts under the ids that they have now: pairs of who they were and who they are.

    Who was never met is not made. Where both are known, their contacts become one.
    """
    for before, after in people:
        known = _identity(before)
        if known is None:
            continue
        other = _identity(after)
        if other is None:
            known.external_id = after.external_id or known.external_id
            known.user_id = after.user_id or known.user_id
            known.save(update_fields=["external_id", "user_id"])
        elif other.contact_id != known.contact_id:
            join_contacts(kept=known.contact_id, others=[other.contact_id], now=now)
        contacts_of_people(people=[after], now=now)


def _identity(person: ChannelPerson) -> ContactIdentity | None:
    rows = ContactIdentity.objects.filter(channel=person.channel_id).order_by("pk")
    found = rows.filter(external_id=person.external_id).first() if person.external_id else None
    if found is None and person.user_id:
        found = rows.filter(user_id=person.user_id).first()
    return found
