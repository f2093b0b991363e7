"""The services of contacts and segments that other apps call."""

from workspaces.contacts.services.conditions import FilterRefused, condition_of
from workspaces.contacts.services.contacts import (
    ContactRemovalHandler,
    NobodyInParticular,
    contact_removal_handlers,
    create_contact,
    remove_contact,
    update_contact,
)
from workspaces.contacts.services.counting import count_contacts, count_with_tag, has_contacts, used_contacts
from workspaces.contacts.services.errors import ContactNotFound, SegmentNotFound
from workspaces.contacts.services.fields.columns import ContactValues, EmailTaken, PhoneTaken
from workspaces.contacts.services.fields.values import ValueRefused, countries
from workspaces.contacts.services.imports.importing import MOST_ROWS, import_contacts, import_contacts_of_a_call
from workspaces.contacts.services.imports.rows import ImportResult, RowError
from workspaces.contacts.services.locking import ContactLockHandler, contact_lock_handlers
from workspaces.contacts.services.opt_outs import (
    ConsentWord,
    follow_consent_words,
    opt_in_contact,
    opt_in_contacts,
    opt_out_contact,
    opt_out_contacts,
)
from workspaces.contacts.services.people.matching import ChannelPerson, FoundPeople, contacts_of_people
from workspaces.contacts.services.people.merging import (
    ContactMergeHandler,
    MergedWithItself,
    contact_merge_handlers,
    merge_contacts,
)
from workspaces.contacts.services.segments import (
    SegmentInUse,
    SegmentLimitReached,
    SegmentNameTaken,
    SegmentUse,
    contacts_in,
    create_segment,
    remove_segment,
    segment_uses,
    update_segment,
)
from workspaces.contacts.services.sizes import with_size, with_sizes

__all__ = [
    "MOST_ROWS",
    "ChannelPerson",
    "ConsentWord",
    "ContactLockHandler",
    "ContactMergeHandler",
    "ContactNotFound",
    "ContactRemovalHandler",
    "ContactValues",
    "EmailTaken",
    "FilterRefused",
    "FoundPeople",
    "ImportResult",
    "MergedWithItself",
    "NobodyInParticular",
    "PhoneTaken",
    "RowError",
    "SegmentInUse",
    "SegmentLimitReached",
    "SegmentNameTaken",
    "SegmentNotFound",
    "SegmentUse",
    "ValueRefused",
    "condition_of",
    "contact_lock_handlers",
    "contact_merge_handlers",
    "contact_removal_handlers",
    "contacts_in",
    "contacts_of_people",
    "count_contacts",
    "count_with_tag",
    "countries",
    "create_contact",
    "create_segment",
    "follow_consent_words",
    "has_contacts",
    "import_contacts",
    "import_contacts_of_a_call",
    "merge_contacts",
    "opt_in_contact",
    "opt_in_contacts",
    "opt_out_contact",
    "opt_out_contacts",
    "remove_contact",
    "remove_segment",
    "segment_uses",
    "update_contact",
    "update_segment",
    "used_contacts",
    "with_size",
    "with_sizes",
]
