"""A single contact: made, changed, removed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Unpack

from django.db import transaction

from agency.actors import Actor
from config.errors import Invalid
from config.hooks import Registry
from workspaces.contacts import events
from workspaces.contacts.models import Contact
from workspaces.contacts.services.counting import count_contacts
from workspaces.contacts.services.errors import ContactNotFound
from workspaces.contacts.services.events import change_events, contact_reading, record, record_removal
from workspaces.contacts.services.fields.columns import ContactValues, apply_values, checked_values, save_contact
from workspaces.contacts.services.locking import lock_what_hangs_on
from workspaces.contacts.services.opt_outs import opt_out_events, write_opt_out
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_activity, require_room

Source = Contact.OptOutSource
# What a contact is known by to people.
WHO: Final = ("name", "phone", "email")


class NobodyInParticular(Invalid):
    field = "phone"
    message = "A contact needs a name, a phone number or an e-mail address."


@dataclass(frozen=True, slots=True)
class ContactRemovalHandler:
    """How a higher app removes what it holds of a contact, by its number, in the removal's transaction."""

    name: str
    remove: Callable[[int], None]


contact_removal_handlers = Registry[ContactRemovalHandler]("handlers of a contact's removal")


@transaction.atomic
def create_contact(
    *, workspace: Workspace, now: datetime, source: Source = Source.API, **values: Unpack[ContactValues]
) -> Contact:
    """Make a contact; `source` is whose word an opt-out is.

    Raises `ValueRefused`, `NobodyInParticular`, `PhoneTaken`, `EmailTaken`, and `LimitReached` past the plan's limit.
    """
    checked = checked_values(values)
    contact = Contact(workspace=workspace, created_at=now, updated_at=now)
    apply_values(contact, checked)
    if not _is_somebody(contact):
        raise NobodyInParticular
    write_opt_out(contact, checked.get("opted_out", False), source=source, now=now)
    locked = lock_workspace(workspace)
    require_room(workspace=locked, name="contacts", used=count_contacts(locked))
    save_contact(contact, force_insert=True)
    record(workspace, [(events.CONTACT_CREATED, {"contact": contact})], now=now)
    return contact


@transaction.atomic
def update_contact(
    *, contact: Contact, now: datetime, source: Source = Source.API, **changes: Unpack[ContactValues]
) -> Contact:
    """Change a contact; what is not named stays, and nothing is told where nothing changed.

    Raises `ValueRefused`, `PhoneTaken`, `EmailTaken`, `ContactNotFound`, and `NobodyInParticular` for a change that
    takes away the last of name, phone and e-mail. A person whom only a network knows may have none of them.
    """
    checked = checked_values(changes)
    contact = lock_contact(contact)
    before, was_out, was_somebody = contact_reading(contact), contact.opted_out, _is_somebody(contact)
    apply_values(contact, checked)
    if was_somebody and not _is_somebody(contact):
        raise NobodyInParticular(field=next(name for name in WHO if name in checked))
    is_word = "opted_out" in checked and write_opt_out(contact, checked["opted_out"], source=source, now=now)
    told = [*change_events(contact, before), *opt_out_events(contact, was_out)]
    if told:
        contact.updated_at = now
        save_contact(contact)
        record(contact.workspace, told, now=now)
    elif is_word:
        contact.save(update_fields=["consent_told_at"])
    return contact


def _is_somebody(contact: Contact) -> bool:
    return any(getattr(contact, name) for name in WHO)


@transaction.atomic
def remove_contact(*, contact: Contact, now: datetime, by: Actor) -> None:
    """Remove a contact with all that is about them. Raises `ContactNotFound`."""
    lock_what_hangs_on({contact.pk})
    contact = lock_contact(contact)
    record_removal(contact, now=now)
    for handler in contact_removal_handlers:
        handler.remove(contact.pk)
    uuid = str(contact.uuid)
    contact.delete()
    details = {"contact": uuid}
    record_workspace_activity(workspace=contact.workspace, action="contact.deleted", by=by, details=details)


def lock_contact(contact: Contact) -> Contact:
    """Re-read a contact under its lock; the caller is inside a transaction. Raises `ContactNotFound`."""
    rows = Contact.objects.select_for_update(of=("self",), no_key=True).select_related("workspace")
    found = rows.filter(pk=contact.pk).first()
    if found is None:
        raise ContactNotFound
    return found
