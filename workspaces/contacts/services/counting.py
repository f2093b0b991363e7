"""How many contacts a workspace has, without counting them."""

from collections.abc import Mapping

from django.db.models import Sum

from workspaces.contacts.models import Contact, ContactCount
from workspaces.subaccounts.models import Workspace


def count_contacts(workspace: Workspace) -> int:
    """Give the number of a workspace's contacts, which the database keeps."""
    counted = ContactCount.objects.filter(workspace_id=workspace.pk).aggregate(total=Sum("number"))
    return int(counted["total"] or 0)


def used_contacts(workspace: Workspace) -> Mapping[str, int]:
    """Count what the plan's limit of contacts is about."""
    return {"contacts": count_contacts(workspace)}


def has_contacts(workspace: Workspace) -> bool:
    """Say whether a workspace has any contact."""
    return Contact.objects.of(workspace).exists()
