"""Create, change and remove a contact."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Unpack

from django.db import transaction

from agency.actors import Actor
from config.errors import InvalidInput
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
from workspaces.subaccounts.services import check_limit, lock_workspace, record_workspace_activity

Source = Contact.OptOutSource
# A contact that a person enters needs at least one of these.
WHO: Final = ("name", "phone", "email")


class NobodyInParticular(InvalidInput):
    field = "phone"
    message = "A contact needs a name, a phone number or an e-mail address."


@dataclass(frozen=True, slots=True)
class ContactRemovalHandler:
    """A higher app's function that removes its rows about a contact, given its primary key, in the same transaction."""

    name: str
    remove: Callable[[int], None]


contact_removal_handlers = Registry[ContactRemovalHandler](
    "handlers of a contact's removal",
    called="`remove_contact` calls each in the order of the apps, under all locks, before it deletes the contact",
    transaction="the caller's",
    failure="rolls the caller back",
)


@transaction.atomic
def create_contact(
    *, workspace: Workspace, now: datetime, source: Source = Source.API, **values: Unpack[ContactValues]
) -> Contact:
    """Create a contact. `source` is recorded as the source of an opt-out.

    Raises `ValueRefused`, `NobodyInParticular`, `PhoneTaken`, `EmailTaken`, and `LimitReached` past the plan's limit.
    """
    checked = checked_values(values)
    contact = Contact(workspace=workspace, created_at=now, updated_at=now)
    apply_values(contact, checked)
    if not _is_somebody(contact):
        raise NobodyInParticular
    write_opt_out(contact, checked.get("opted_out", False), source=source, now=now)
    locked = lock_workspace(workspace)
    check_limit(workspace=locked, name="contacts", used=count_contacts(locked))
    save_contact(contact, force_insert=True)
    record(workspace, [(events.CONTACT_CREATED, {"contact": contact})], now=now)
    return contact


@transaction.atomic
def update_contact(
    *, contact: Contact, now: datetime, source: Source = Source.API, **changes: Unpack[ContactValues]
) -> Contact:
    """Change the given fields of a contact. Without a real change no event is recorded.

    Raises `ValueRefused`, `PhoneTaken`, `EmailTaken`, `ContactNotFound`, and `NobodyInParticular` for a change that
    empties the last of name, phone and e-mail. A contact that came from a network may have none of them.
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
    """Remove a contact and all data about it. Raises `ContactNotFound`."""
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
    """Re-read a contact and lock its row, inside the caller's transaction. Raises `ContactNotFound`."""
    rows = Contact.objects.select_for_update(of=("self",), no_key=True).select_related("workspace")
    found = rows.filter(pk=contact.pk).first()
    if found is None:
        raise ContactNotFound
    return found
