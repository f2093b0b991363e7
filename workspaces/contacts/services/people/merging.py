"""Merges two contacts of one person. The rows of other apps move along."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import SYSTEM, Actor
from config.db import name_key
from config.errors import InvalidInput
from config.hooks import Registry
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.models.contacts import MOST_ATTRIBUTES, MOST_TAGS, search_key
from workspaces.contacts.services.errors import ContactNotFound
from workspaces.contacts.services.events import contact_reading, record_changes, record_removal
from workspaces.contacts.services.fields.tags import joined_tags
from workspaces.contacts.services.locking import lock_what_hangs_on
from workspaces.subaccounts.services import record_workspace_activity

# The time of the last statement, the time of the opt-out, and its source if there is one.
CONSENT = ("consent_told_at", "opted_out_at", "opt_out_source")
MARKETING = ("marketing_told_at", "marketing_opted_out_at")
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
def merge_contacts(*, contact: Contact, other: Contact, now: datetime, by: Actor) -> Contact:
    """Merge `other` into `contact` and remove it.

    `contact` gets the other's values for its empty fields. Tags and attributes are united. Of the two consent
    statements the newer counts, and likewise for marketing.
    Raises `MergedWithItself`, and `ContactNotFound` if either was removed meanwhile.
    """
    if contact.pk == other.pk:
        raise MergedWithItself
    lock_what_hangs_on({contact.pk, other.pk})
    locked = _lock({contact.pk, other.pk})
    if len(locked) < 2:
        raise ContactNotFound
    kept, gone = locked[contact.pk], locked[other.pk]
    before = contact_reading(kept)
    record_removal(gone, now=now)
    _move(kept, gone)
    _take_over(kept, gone, now)
    record_changes(kept, before=before, now=now)
    details = {"contact": str(kept.uuid), "merged": str(gone.uuid)}
    record_workspace_activity(workspace=kept.workspace, action="contact.merged", by=by, details=details)
    return kept


def join_contacts(*, kept: int, others: Collection[int], now: datetime) -> None:
    """Merge contacts that belong to one person according to the network."""
    for other in sorted(others):
        found = Contact.objects.in_bulk([kept, other])
        if len(found) == 2:
            merge_contacts(contact=found[kept], other=found[other], now=now, by=SYSTEM)


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
    _take_newer_word(kept, gone, CONSENT)
    _take_newer_word(kept, gone, MARKETING)
    kept.last_inbound_at = max(filter(None, (kept.last_inbound_at, gone.last_inbound_at)), default=None)
    kept.tag_keys = [name_key(tag) for tag in kept.tags]
    kept.platforms = list(dict.fromkeys([*kept.platforms, *gone.platforms]))
    kept.search_key, kept.updated_at = search_key(kept.name, kept.phone, kept.email), now
    kept.save()


def _take_newer_word(kept: Contact, gone: Contact, names: Sequence[str]) -> None:
    """Copy the other contact's statement if it is newer. At equal times, or without times, the opt-out counts."""

    def said(contact: Contact) -> tuple[datetime, bool]:
        told_at, out_at = getattr(contact, names[0]), getattr(contact, names[1])
        return told_at or out_at or NEVER, out_at is not None

    if said(gone) > said(kept):
        for name in names:
            setattr(kept, name, getattr(gone, name))


def _united(held: dict[str, Any], offered: dict[str, Any]) -> dict[str, Any]:
    """Return `held` and the missing names of `offered`, at most `MOST_ATTRIBUTES`."""
    missing = [(name, value) for name, value in offered.items() if name not in held]
    return dict([*held.items(), *missing][:MOST_ATTRIBUTES])
