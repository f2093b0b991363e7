"""What networks tell of contacts, for whoever reads callbacks: opt-outs, marketing, ids that change; many at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from django.db import connection

from agency.services import NewEvent, record_events, subscribed_events
from config.leases.arrays import integers, moments
from workspaces.contacts import events
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.services.merging import join_contacts
from workspaces.contacts.services.people import ChannelPerson, contacts_of_people
from workspaces.subaccounts.services import tenant_of

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


def opt_out_contacts(*, contacts: Collection[int], source: str, now: datetime) -> set[int]:
    """Opt contacts out, in the caller's transaction; gives those who had not opted out before."""
    changed = _lock(contacts, opted_out=False)
    Contact.objects.filter(pk__in=changed).update(opted_out_at=now, opt_out_source=source, updated_at=now)
    _tell(events.CONTACT_OPTED_OUT, changed, now)
    return changed


def opt_in_contacts(*, contacts: Collection[int], now: datetime) -> set[int]:
    """Opt contacts in again, in the caller's transaction; gives those who had opted out."""
    changed = _lock(contacts, opted_out=True)
    Contact.objects.filter(pk__in=changed).update(opted_out_at=None, opt_out_source=None, updated_at=now)
    _tell(events.CONTACT_OPTED_IN, changed, now)
    return changed


def change_marketing_opt_outs(*, out: Mapping[int, datetime], back: Iterable[int], now: datetime) -> None:
    """Keep since when contacts want no marketing (`out`), and who wants it again (`back`)."""
    told: dict[int, datetime | None] = {**out, **dict.fromkeys(back)}
    if told:
        with connection.cursor() as cursor:
            cursor.execute(MARKETING, [now, integers(told), moments(told.values())])


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


def _lock(contacts: Collection[int], *, opted_out: bool) -> set[int]:
    if not contacts:
        return set()
    rows = Contact.objects.filter(pk__in=contacts, opted_out_at__isnull=not opted_out)
    return set(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))


def _tell(name: str, contacts: Collection[int], now: datetime) -> None:
    if not contacts:
        return
    rows = list(Contact.objects.filter(pk__in=contacts).select_related("workspace").with_channels().order_by("pk"))
    wanted = subscribed_events({row.workspace_id for row in rows})
    record_events(
        NewEvent(tenant=tenant_of(row.workspace), name=name, data={"contact": row}, occurred_at=now)
        for row in rows
        if name in wanted.get(row.workspace_id, ())
    )
