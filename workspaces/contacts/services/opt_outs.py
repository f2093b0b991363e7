"""Who is sent nothing any more: one contact or any number of them, and from whom that is known."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from agency.services import NewEvent, record_events, subscribed_events
from workspaces.contacts import events
from workspaces.contacts.models import Contact
from workspaces.contacts.services.events import NamedEvent
from workspaces.contacts.services.fields.columns import ContactColumns
from workspaces.subaccounts.services import tenant_of

Source = Contact.OptOutSource


def opt_out_contact(*, contact: Contact, source: Source, now: datetime) -> Contact:
    """Opt a contact out; one that has opted out stays as it is, without an event."""
    opt_out_contacts(contacts=[contact.pk], source=source, now=now)
    contact.refresh_from_db()
    return contact


def opt_in_contact(*, contact: Contact, now: datetime) -> Contact:
    """Opt a contact in again; one that has not opted out stays as it is, without an event."""
    opt_in_contacts(contacts=[contact.pk], now=now)
    contact.refresh_from_db()
    return contact


@transaction.atomic(savepoint=False)
def opt_out_contacts(*, contacts: Collection[int], source: Source, now: datetime) -> frozenset[int]:
    """Opt contacts out by their numbers; gives those that had not. Two or three statements for any number of them."""
    rows = Contact.objects.filter(opted_out_at=None)
    return _change(rows, contacts, events.CONTACT_OPTED_OUT, now, opted_out_at=now, opt_out_source=source)


@transaction.atomic(savepoint=False)
def opt_in_contacts(*, contacts: Collection[int], now: datetime) -> frozenset[int]:
    """Opt contacts in again by their numbers; gives those that had opted out."""
    rows = Contact.objects.filter(opted_out_at__isnull=False)
    return _change(rows, contacts, events.CONTACT_OPTED_IN, now, opted_out_at=None, opt_out_source=None)


def _change(
    rows: "QuerySet[Contact]", contacts: Collection[int], event: str, now: datetime, **values: Any
) -> frozenset[int]:
    """Write the values into those of the contacts that are among the rows, in the order of their numbers."""
    locked = rows.filter(pk__in=list(contacts)).order_by("pk").select_for_update(no_key=True)
    found = dict(locked.values_list("pk", "workspace_id"))
    if found:
        Contact.objects.filter(pk__in=found).update(**values, updated_at=now)
        _record(found, event, now)
    return frozenset(found)


def _record(workspace_of: Mapping[int, int], event: str, now: datetime) -> None:
    wanted = {pk for pk, names in subscribed_events(set(workspace_of.values())).items() if event in names}
    if not wanted:
        return
    rows = Contact.objects.filter(pk__in=workspace_of, workspace__in=wanted).select_related("workspace")
    record_events(
        NewEvent(tenant=tenant_of(row.workspace), name=event, data={"contact": row}, occurred_at=now)
        for row in rows.with_channels().order_by("pk")
    )


def write_opt_out(contact: Contact | ContactColumns, is_out: bool, *, source: Source, now: datetime) -> None:
    """Write into a contact whether it has opted out; the source of an earlier opt-out stays."""
    if is_out and not contact.opted_out:
        contact.opted_out_at, contact.opt_out_source = now, source
    elif not is_out:
        contact.opted_out_at, contact.opt_out_source = None, None


def opt_out_events(contact: Contact | ContactColumns, was_out: bool) -> Iterator[NamedEvent]:
    """Give what is told of a contact that had, or had not, opted out before."""
    if contact.opted_out != was_out:
        yield events.CONTACT_OPTED_OUT if contact.opted_out else events.CONTACT_OPTED_IN, {"contact": contact}
