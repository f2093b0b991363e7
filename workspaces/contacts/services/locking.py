"""Locks the rows that depend on contacts before the contacts, so that every transaction locks in one order."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from config.hooks import Registry


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


def lock_what_hangs_on(contacts: Collection[int]) -> None:
    """Lock the rows of higher apps about these contacts. The caller then locks the contacts to merge or remove them."""
    for handler in contact_lock_handlers:
        handler.lock(contacts)
