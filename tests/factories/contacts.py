"""Contacts, segments and imports."""

from io import BytesIO
from typing import Any

from factory.declarations import LazyFunction, Sequence, SubFactory

from tests.factories.base import A_MOMENT_AGO, ByService
from tests.factories.workspaces import WorkspaceFactory
from workspaces.contacts.models import Contact, ContactImport, Segment
from workspaces.contacts.services import create_contact, create_segment
from workspaces.contacts.services.file_imports import upload_contacts


class ContactFactory(ByService[Contact]):
    class Meta:
        model = Contact

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Contact {number}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Contact:
        """Nobody is named as the maker of a contact."""
        del values["by"]
        return create_contact(**values)


class SegmentFactory(ByService[Segment]):
    class Meta:
        model = Segment

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Segment {number}")
    filter = LazyFunction(lambda: {"tags_any": ["VIP"]})
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Segment:
        return create_segment(**values)


class ContactImportFactory(ByService[ContactImport]):
    class Meta:
        model = ContactImport

    workspace = SubFactory(WorkspaceFactory)
    filename = "contacts.csv"
    content = b"Name,Notes\nAda,Prefers mornings\n"
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> ContactImport:
        return upload_contacts(**{**values, "content": BytesIO(values["content"])})
