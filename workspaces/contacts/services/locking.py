"""What is locked before contacts, so that all who change a contact and what hangs on it wait in one order."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class ContactLockHandler:
    """How a higher app locks what it holds of contacts, by their numbers, where it locks that before a contact."""

    name: str
    lock: Callable[[Collection[int]], None]


contact_lock_handlers = Registry[ContactLockHandler]("handlers of a contact's lock")


def lock_what_hangs_on(contacts: Collection[int]) -> None:
    """Lock what stands before contacts that are about to be merged or removed; the contacts are locked next."""
    for handler in contact_lock_handlers:
        handler.lock(contacts)
