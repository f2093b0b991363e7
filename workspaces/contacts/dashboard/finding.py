"""Contacts in the dashboard's search."""

from collections.abc import Iterator
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy

from agency.pages.search import SearchResult, digits_of_phone
from config.db import like_pattern, name_key
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.search import WorkspaceSearchSource


def contact_pattern(query: str) -> str:
    """Return the pattern of a contact's `search_key` for a query: digits of a phone number, or part of a name."""
    return like_pattern(digits_of_phone(query) or name_key(query))


def _found(workspace: Workspace, query: str, most: int) -> Iterator[SearchResult]:
    rows = Contact.objects.of(workspace).filter(search_key__like=contact_pattern(query)).newest_first()
    for one in rows[:most]:
        detail = " · ".join(filter(None, (one.phone if one.name else "", one.email)))
        yield SearchResult(title=str(one), detail=detail, url=reverse("app:contact", args=[one.uuid]))


CONTACTS: Final = WorkspaceSearchSource(name="contacts", label=gettext_lazy("Contacts"), order=10, find=_found)
