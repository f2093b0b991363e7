"""Contacts who take part in classes."""

from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace


def contacts(workspace: Workspace, count: int) -> list[Contact]:
    """So many contacts, `Contact 0` first."""
    names = [f"Contact {number}" for number in range(count)]
    rows = [Contact(workspace=workspace, name=name, search_key=name.lower()) for name in names]
    return Contact.objects.bulk_create(rows)
