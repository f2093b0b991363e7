"""Models of contacts, segments and imports."""

from workspaces.contacts.models.contacts import (
    Contact,
    ContactCount,
    ContactFacetCount,
    ContactIdentity,
    ContactTag,
    Segment,
)
from workspaces.contacts.models.imports import ContactImport, ContactImportPiece, RefusedRow

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
