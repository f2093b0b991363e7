"""Creates, changes, merges and removes contacts. The rows of other apps are locked, moved and removed along."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final, Unpack

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import SYSTEM, Actor
from agency.services import record_activity
from config.db import name_key
from config.errors import InvalidInput, NotFound
from config.hooks import Registry
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.models.contacts import MOST_ATTRIBUTES, MOST_TAGS, search_key
from workspaces.contacts.services import events
from workspaces.contacts.services.contact_rows import ContactValues, apply_values, checked_values, save_contact
from workspaces.contacts.services.counting import count_contacts
from workspaces.contacts.services.events import change_events, contact_reading, record, record_changes, record_removal
from workspaces.contacts.services.fields import added_tags, joined_tags
from workspaces.contacts.services.opt_outs import opt_out_events, write_opt_out
from workspaces.contacts.services.tag_handlers import AddedTags, ChangeCause, tell_tags_added
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import check_limit, lock_workspace, record_workspace_activity


class ContactNotFound(NotFound):
    message = "Contact not found."


@dataclass(frozen=True, slots=True)
class ContactLockHandler:
    """A higher app's function that locks its rows about contacts, given their primary keys, before the contacts."""

    name: str
    lock: Callable[[Collection[int]], None]


contact_lock_handlers = Registry[ContactLockHandler](
    "handlers of a contact's lock",
    called="`remove_contact` and `merge_contacts` call each in the order of the apps, before they lock the contacts",
    transaction="the caller's",
    failure="rolls the caller back",
)


def lock_dependents(contacts: Collection[int]) -> None:
    """Lock the rows of higher apps about these contacts. The caller then locks the contacts to merge or remove them."""
    for handler in contact_lock_handlers:
        handler.lock(contacts)


Source = Contact.OptOutSource
# The kind of the entries of the activity log that are about a contact.
ACTIVITY_TARGET: Final = "contact"
MOST_DETAILS_RECORDED: Final = 10
# A contact that a person enters needs at least one of these.
IDENTIFYING_FIELDS: Final = ("name", "phone", "email")


class ContactUnidentified(InvalidInput):
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

    Raises `ValueRefused`, `ContactUnidentified`, `PhoneTaken`, `EmailTaken`, and `LimitReached` past the plan's limit.
    """
    checked = checked_values(values)
    contact = Contact(workspace=workspace, created_at=now, updated_at=now)
    apply_values(contact, checked)
    if not _is_identified(contact):
        raise ContactUnidentified
    write_opt_out(contact, checked.get("opted_out", False), source=source, now=now)
    locked = lock_workspace(workspace)
    check_limit(workspace=locked, name="contacts", used=count_contacts(locked))
    save_contact(contact, force_insert=True)
    record(workspace, [(events.CONTACT_CREATED, {"contact": contact})], now=now)
    tell_tags_added(workspace, [AddedTags(contact.pk, contact.tags)], now=now)
    return contact


@transaction.atomic
def update_contact(
    *,
    contact: Contact,
    now: datetime,
    source: Source = Source.API,
    cause: ChangeCause | None = None,
    by: Actor | None = None,
    **changes: Unpack[ContactValues],
) -> Contact:
    """Change the given fields of a contact. Without a real change no event is recorded.

    `cause` is the automation that makes the change, if one does. `by` is the person or the key that makes it; the
    activity log says which fields they changed. Automations, networks and visitors of the booking page have none.

    Raises `ValueRefused`, `PhoneTaken`, `EmailTaken`, `ContactNotFound`, and `ContactUnidentified` for a change that
    empties the last of name, phone and e-mail. A contact that came from a network may have none of them.
    """
    checked = checked_values(changes)
    contact = lock_contact(contact)
    before, was_out, was_identified = contact_reading(contact), contact.opted_out, _is_identified(contact)
    apply_values(contact, checked)
    if was_identified and not _is_identified(contact):
        raise ContactUnidentified(field=next(name for name in IDENTIFYING_FIELDS if name in checked))
    is_statement = "opted_out" in checked and write_opt_out(contact, checked["opted_out"], source=source, now=now)
    named_events = [*change_events(contact, before), *opt_out_events(contact, was_out)]
    if named_events:
        contact.updated_at = now
        save_contact(contact)
        record(contact.workspace, named_events, now=now)
        added = AddedTags(contact.pk, added_tags(before["tags"], contact.tags))
        tell_tags_added(contact.workspace, [added], now=now, cause=cause)
        if by is not None:
            _record_update(contact, {**before, "opted_out": was_out}, by=by)
    elif is_statement:
        contact.save(update_fields=["consent_told_at"])
    return contact


def _record_update(contact: Contact, before: Mapping[str, Any], *, by: Actor) -> None:
    """Add an entry about a contact, which names neither the contact nor a value: it outlives the contact's removal."""
    after = {**contact_reading(contact), "opted_out": contact.opted_out}
    was, is_now = before["attributes"], after["attributes"]
    changed = sorted(name for name in {*was, *is_now} if was.get(name) != is_now.get(name))
    record_activity(
        by=by,
        action=events.CONTACT_UPDATED,
        agency_id=contact.workspace.agency_id,
        workspace_uuid=contact.workspace.uuid,
        target=(ACTIVITY_TARGET, contact.uuid, ""),
        details={"details": changed[:MOST_DETAILS_RECORDED]} if changed else {},
        changes={name: (before[name], value) for name, value in after.items()},
    )


def _is_identified(contact: Contact) -> bool:
    return any(getattr(contact, name) for name in IDENTIFYING_FIELDS)


@transaction.atomic
def remove_contact(*, contact: Contact, now: datetime, by: Actor) -> None:
    """Remove a contact and all data about it. Raises `ContactNotFound`."""
    lock_dependents({contact.pk})
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


# The time of the last statement, the time of the opt-out, and its source if there is one.
CONSENT = ("consent_told_at", "opted_out_at", "opt_out_source")
MARKETING = ("marketing_told_at", "marketing_opted_out_at")
# The attributes `other_phone`, `other_phone_2` … hold further numbers of a person.
OTHER_PHONE: Final = "other_phone"
NEVER = datetime.min.replace(tzinfo=UTC)
TAKEN_WHERE_EMPTY = ("name", "phone", "email", "email_key", "country", "timezone")


class MergedWithItself(InvalidInput):
    message = "A contact cannot be merged with itself."
    field = "contact"


@dataclass(frozen=True, slots=True)
class ContactMergeHandler:
    """A higher app's function that moves its rows: `move(kept, gone)` gets primary keys, in the same transaction."""

    name: str
    move: Callable[[int, int], None]


contact_merge_handlers = Registry[ContactMergeHandler](
    "handlers of a contact's merge",
    called=(
        "`merge_contacts` calls each in the order of the apps, under all locks, before it moves identities and "
        "deletes the other contact"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


@transaction.atomic
def merge_contacts(*, contact: Contact, other: Contact, now: datetime, by: Actor, keeps_phone: bool = False) -> Contact:
    """Merge `other` into `contact` and remove it.

    `contact` gets the other's values for its empty fields. Tags and attributes are united. Of the two consent
    statements the newer counts, and likewise for marketing. With `keeps_phone` a second phone number becomes an
    attribute.
    Raises `MergedWithItself`, and `ContactNotFound` if either was removed meanwhile.
    """
    if contact.pk == other.pk:
        raise MergedWithItself
    lock_dependents({contact.pk, other.pk})
    locked = _lock({contact.pk, other.pk})
    if len(locked) < 2:
        raise ContactNotFound
    kept, gone = locked[contact.pk], locked[other.pk]
    before = contact_reading(kept)
    record_removal(gone, now=now)
    _move(kept, gone)
    if keeps_phone:
        further = (text for name, text in gone.attributes.items() if name.startswith(OTHER_PHONE))
        keep_other_phones(kept, [gone.phone if kept.phone else None, *further])
    _take_over(kept, gone, now)
    record_changes(kept, before=before, now=now)
    details = {"contact": str(kept.uuid), "merged": str(gone.uuid)}
    record_workspace_activity(workspace=kept.workspace, action="contact.merged", by=by, details=details)
    return kept


def join_contacts(*, kept: int, others: Collection[int], now: datetime) -> None:
    """Merge contacts that belong to one person according to the network. Nobody has chosen one of two phone numbers."""
    for other in sorted(others):
        found = Contact.objects.in_bulk([kept, other])
        if len(found) == 2:
            merge_contacts(contact=found[kept], other=found[other], now=now, by=SYSTEM, keeps_phone=True)


def keep_other_phones(contact: Contact, phones: Iterable[str | None]) -> None:
    """Add further phone numbers of a person to the contact's attributes, each once, as far as there is room."""
    for phone in phones:
        held = contact.attributes
        if phone and phone not in {contact.phone, *held.values()} and len(held) < MOST_ATTRIBUTES:
            names = (OTHER_PHONE if number == 1 else f"{OTHER_PHONE}_{number}" for number in count(1))
            contact.attributes = {**held, next(name for name in names if name not in held): phone}


def _lock(ids: Collection[int]) -> dict[int, Contact]:
    rows: QuerySet[Contact] = Contact.objects.filter(pk__in=ids).order_by("pk").select_for_update(of=("self",))
    return {row.pk: row for row in rows.select_related("workspace")}


def _move(kept: Contact, gone: Contact) -> None:
    for handler in contact_merge_handlers:
        handler.move(kept.pk, gone.pk)
    ContactIdentity.objects.filter(contact=gone).update(contact=kept)
    Contact.objects.filter(pk=gone.pk).delete()


def _take_over(kept: Contact, gone: Contact, now: datetime) -> None:
    for name in TAKEN_WHERE_EMPTY:
        setattr(kept, name, getattr(kept, name) or getattr(gone, name))
    kept.tags = joined_tags(kept.tags, gone.tags)[:MOST_TAGS]
    kept.attributes = _united(kept.attributes, gone.attributes)
    _take_newer_statement(kept, gone, CONSENT)
    _take_newer_statement(kept, gone, MARKETING)
    kept.last_inbound_at = max(filter(None, (kept.last_inbound_at, gone.last_inbound_at)), default=None)
    kept.tag_keys = [name_key(tag) for tag in kept.tags]
    kept.platforms = list(dict.fromkeys([*kept.platforms, *gone.platforms]))
    kept.search_key, kept.updated_at = search_key(kept.name, kept.phone, kept.email), now
    kept.save()


def _take_newer_statement(kept: Contact, gone: Contact, names: Sequence[str]) -> None:
    """Copy the other contact's statement if it is newer. At equal times, or without times, the opt-out counts."""

    def said(contact: Contact) -> tuple[datetime, bool]:
        told_at, out_at = getattr(contact, names[0]), getattr(contact, names[1])
        return told_at or out_at or NEVER, out_at is not None

    if said(gone) > said(kept):
        for name in names:
            setattr(kept, name, getattr(gone, name))


def _united(held: dict[str, str], offered: dict[str, str]) -> dict[str, str]:
    """Return `held` and the missing names of `offered`, at most `MOST_ATTRIBUTES`."""
    missing = [(name, value) for name, value in offered.items() if name not in held]
    return dict([*held.items(), *missing][:MOST_ATTRIBUTES])
