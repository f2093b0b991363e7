"""The dashboard page that merges two contacts of the same person."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from config.api.requests import is_storable, parse_uuid
from config.db import like_pattern, name_key
from workspaces.contacts.dashboard.views.contacts import ONE, OneContact
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound, merge_contacts
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import CHANNEL_NAMES

MOST_FOUND = 20
LONGEST_SEARCH = 100
COMPARED = (
    ("name", gettext_lazy("Name")),
    ("phone", gettext_lazy("Phone number")),
    ("email", gettext_lazy("E-mail")),
    ("country", gettext_lazy("Country")),
    ("timezone", gettext_lazy("Time zone")),
)


class ContactMerge(OneContact, DashboardForm[ConfirmationForm]):
    """Finds the other contact, shows both and the result side by side, and asks for confirmation."""

    template_name = "contacts/merge.html"

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        other = self._other()
        if other is None:
            raise ContactNotFound
        gone = str(other)
        kept = merge_contacts(contact=self.contact, other=other, now=timezone.now(), by=self.by)
        return self.done(_("%(gone)s and %(kept)s are one contact now.") % {"gone": gone, "kept": kept}, ONE, kept.uuid)

    def context(self) -> dict[str, Any]:
        other = self._other()
        if other is None:
            return {"contact": self.contact, **self._found()}
        return {"contact": self.contact, "other": other, "rows": self._compared(other)}

    def _other(self) -> Contact | None:
        asked = self.request.POST.get("other") or self.request.GET.get("other", "")
        if not asked:
            return None
        found = with_id(Contact.objects.of(self.workspace), parse_uuid(asked))
        if found is None or found.pk == self.contact.pk:
            raise ContactNotFound
        return found

    def _found(self) -> dict[str, Any]:
        """Return contacts that match the search. Without a search, look for this contact's name."""
        search = self.request.GET.get("search", "").strip()[:LONGEST_SEARCH]
        rows = Contact.objects.of(self.workspace).exclude(pk=self.contact.pk).newest_first()
        words = search or self.contact.name
        if not words or not is_storable(words):
            return {"search": "", "found": []}
        found = rows.filter(search_key__like=like_pattern(name_key(words)))
        return {"search": search, "found": list(found[:MOST_FOUND])}

    def _compared(self, other: Contact) -> list[tuple[Any, str, str, str]]:
        """Return rows of label, this contact's value, the other's value and the merged contact's value."""
        rows: list[tuple[Any, str, str, str]] = [
            (label, str(mine or ""), str(theirs or ""), str(mine or theirs or ""))
            for label, mine, theirs in (
                (label, getattr(self.contact, name), getattr(other, name)) for name, label in COMPARED
            )
        ]
        both = list(dict.fromkeys([*self.contact.tags, *other.tags]))
        rows.append((_("Tags"), ", ".join(self.contact.tags), ", ".join(other.tags), ", ".join(both)))
        mine, theirs = _kinds(self.contact), _kinds(other)
        rows.append((_("Known on"), mine, theirs, ", ".join(dict.fromkeys(filter(None, (mine, theirs))))))
        return rows


def _kinds(contact: Contact) -> str:
    return ", ".join(CHANNEL_NAMES[platform] for platform in contact.platforms)
