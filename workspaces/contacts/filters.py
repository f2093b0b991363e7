"""Filters of the list of contacts, for the API and the dashboard."""

import re
from typing import Any

from django.db.models import Q, QuerySet

from config.api.filters import FilterSet, TextFilter
from config.api.requests import NothingMatches, QueryParameters
from config.db import like_pattern, name_key
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import email_key
from workspaces.contacts.services.fields.phones import read_phone

# A number as people write it, with blanks and marks between its digits; shorter ones are also other things.
WRITTEN_NUMBER = re.compile(r"[+0-9()./\s-]{5,}")


def found_by(fragment: str) -> Q:
    """Say what a search finds: name, phone or e-mail holds it, in any case and Unicode form."""
    found = Q(search_key__like=like_pattern(name_key(fragment)))
    if WRITTEN_NUMBER.fullmatch(fragment):
        digits = re.sub(r"\D", "", fragment).lstrip("0")
        if len(digits) >= 4:
            found |= Q(search_key__like=like_pattern(digits))
    return found


class ContactFilterSet(FilterSet):
    class Meta:
        model = Contact
        fields = ()

    search = TextFilter(
        method="matching", help_text="Part of the name, the phone number or the e-mail, in any case and Unicode form."
    )
    tag = TextFilter(method="tagged", help_text="Only contacts with this tag, in any case.")
    phone = TextFilter(method="with_phone", help_text="Only the contact with this phone number, in any formatting.")
    email = TextFilter(method="with_email", help_text="Only the contact with this e-mail, in any case.")

    def matching(self, rows: "QuerySet[Any]", name: str, fragment: str) -> "QuerySet[Any]":
        return rows.filter(found_by(fragment))

    def tagged(self, rows: "QuerySet[Any]", name: str, tag: str) -> "QuerySet[Any]":
        return rows.filter(tag_keys__contains=[name_key(tag)])

    def with_phone(self, rows: "QuerySet[Any]", name: str, phone: str) -> "QuerySet[Any]":
        found = read_phone(phone)
        if found is None:
            raise NothingMatches
        return rows.filter(phone=found.number)

    def with_email(self, rows: "QuerySet[Any]", name: str, email: str) -> "QuerySet[Any]":
        return rows.filter(email_key=email_key(email))


def only_tag(parameters: QueryParameters) -> str | None:
    """Give the tag, as it is compared, where a list is asked for one and nothing else. Raises `NothingMatches`."""
    wanted = ContactFilterSet.values(parameters)
    return name_key(wanted["tag"]) if wanted.keys() == {"tag"} else None
