"""Models of contacts, segments and imports."""

from workspaces.contacts.models.contacts import Contact, ContactCount, ContactFacetCount, ContactIdentity, ContactTag
from workspaces.contacts.models.imports import ContactImport, ContactImportPiece, RefusedRow
from workspaces.contacts.models.segments import Segment

__all__ = [
    "Contact",
    "ContactCount",
    "ContactFacetCount",
    "ContactIdentity",
    "ContactImport",
    "ContactImportPiece",
    "ContactTag",
    "RefusedRow",
    "Segment",
]
