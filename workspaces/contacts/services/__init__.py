"""What can be done with contacts and segments."""

from workspaces.contacts.services.errors import ContactNotFound, SegmentNotFound
from workspaces.contacts.services.merging import (
    ContactMergeHandler,
    MergedWithItself,
    contact_merge_handlers,
    merge_contacts,
)
from workspaces.contacts.services.people import ChannelPerson, FoundPeople, contacts_of_people

__all__ = [
    "ChannelPerson",
    "ContactMergeHandler",
    "ContactNotFound",
    "FoundPeople",
    "MergedWithItself",
    "SegmentNotFound",
    "contact_merge_handlers",
    "contacts_of_people",
    "merge_contacts",
]
