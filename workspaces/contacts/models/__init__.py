"""Tables of contacts and segments."""

from workspaces.contacts.models.contacts import Contact, ContactCount, ContactIdentity
from workspaces.contacts.models.imports import ContactImport, ContactImportPiece, RefusedRow
from workspaces.contacts.models.segments import Segment

__all__ = [
    "Contact",
    "ContactCount",
    "ContactIdentity",
    "ContactImport",
    "ContactImportPiece",
    "RefusedRow",
    "Segment",
]
