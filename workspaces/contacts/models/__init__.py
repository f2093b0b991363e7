"""Models of contacts, segments, imports and tasks."""

from workspaces.contacts.models.contacts import (
    Contact,
    ContactCount,
    ContactFacetCount,
    ContactIdentity,
    ContactTag,
    Segment,
)
from workspaces.contacts.models.imports import ContactImport, ContactImportPiece, RefusedRow
from workspaces.contacts.models.tasks import Task

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
    "Task",
]
