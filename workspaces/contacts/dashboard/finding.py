"""Contacts in the dashboard's search, and the filter of other lists by a contact."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from agency.pages.search import SearchResult, digits_of_phone
from agency.pages.tables import ChoiceGroup, Choices, Filter, ListPage, TableState
from config.api.requests import parse_uuid
from config.db import like_pattern, name_key
from workspaces.contacts.models import Contact
from workspaces.subaccounts.dashboard.base import DashboardView
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


CONTACT: Final = Filter(name="contact", label=gettext_lazy("Contact"), is_choice=True)


class ListByContact(ListPage, DashboardView):
    """A list that can be filtered by a contact.

    It offers the filter if its address names a contact, as links on the contact's page do. An unknown contact filters
    nothing.
    """

    @cached_property
    def contact(self) -> Contact | None:
        return with_id(Contact.objects.of(self.workspace), parse_uuid(self.request.GET.get(CONTACT.name, "")))

    def read_table(
        self, choices: Mapping[str, Choices] | None = None, groups: Mapping[str, Sequence[ChoiceGroup]] | None = None
    ) -> TableState:
        if self.contact is None:
            return super().read_table(choices, groups)
        table = replace(self.table, filters=(*self.table.filters, CONTACT))
        named = {CONTACT.name: [(str(self.contact.uuid), str(self.contact))]}
        return TableState(table, self.request, {**(choices or {}), **named}, groups)
