"""The inputs of slots that people choose: a select, with a search beside it if there are more choices than fit."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.api.requests import is_storable
from workspaces.automations.dashboard.slot_choices import PICKERS, Picker
from workspaces.automations.flows.fields import Field, Own
from workspaces.subaccounts.models import Workspace

MOST_OFFERED = 200
LONGEST_SEARCH = 100


class SearchedSelect(forms.Select):
    """A select with a search beside it. The search button shows the form again with the choices that match."""

    def __init__(self, *, search: str, name: str) -> None:
        super().__init__()
        self.search, self.searched = search, name

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        return format_html(
            '<span class="picker">{}<span class="picker-search"><input type="search" name="{}-search" value="{}"'
            ' maxlength="{}" aria-label="{}" placeholder="{}" data-picker-search><button class="button" name="search"'
            ' value="{}" formnovalidate>{}</button></span></span>',
            super().render(name, value, attrs, renderer),
            self.searched,
            self.search,
            LONGEST_SEARCH,
            _("There are more: search by name"),
            _("Search for more"),
            self.searched,
            _("Search"),
        )


class Pickers:
    """The inputs of one page, which read each list of choices once. `sent` holds the values typed into the form."""

    def __init__(self, workspace: Workspace, sent: Mapping[str, str] | None = None, *, back: str = "") -> None:
        """`back` is the page to which the user returns after creating a missing object."""
        self.workspace, self.sent, self.back = workspace, sent or {}, back
        self._offered: dict[tuple[str, str], dict[str, str]] = {}

    def field(
        self, declared: Field | None, *, name: str, label: str, hint: str, value: str
    ) -> forms.ChoiceField | None:
        """Make the input of a slot that people choose; None for a slot that they type."""
        picker = PICKERS.get(declared.of) if isinstance(declared, Own) else None
        if picker is None or not isinstance(declared, Own):
            return None
        all_offered = self._choices(declared.of, picker)
        offered = self._choices(declared.of, picker, self._search(name))
        help_text = hint if all_offered else self._linked(hint, picker)
        for one in filter(None, (self.sent.get(name, ""), value)):
            found = None if one in offered else picker.find(self.workspace, one)
            if found or (one == value and one not in offered):
                offered = {one: found[1] if found else one, **offered}
        choices = [("", _("Choose…")), *offered.items()]
        more = len(all_offered) >= MOST_OFFERED
        widget = SearchedSelect(search=self._search(name), name=name) if more else forms.Select()
        return forms.ChoiceField(
            choices=choices, label=label, help_text=help_text, initial=value, required=False, widget=widget
        )

    def name_of(self, kind: str, value: str) -> str:
        """Give the name of the object in a slot of this kind; empty if there is no such object."""
        picker = PICKERS.get(kind)
        if picker is None:
            return ""
        offered = self._choices(kind, picker).get(value)
        found = None if offered else picker.find(self.workspace, value)
        return offered or (found[1] if found else "")

    def _search(self, name: str) -> str:
        search = self.sent.get(f"{name}-search", "").strip()[:LONGEST_SEARCH]
        return search if is_storable(search) else ""

    def _choices(self, kind: str, picker: Picker, search: str = "") -> dict[str, str]:
        if (kind, search) not in self._offered:
            self._offered[kind, search] = dict(picker.offered(self.workspace, search, MOST_OFFERED))
        return self._offered[kind, search]

    def _linked(self, hint: str, picker: Picker) -> str:
        back = f"?{urlencode({'next': self.back})}" if self.back else ""
        return format_html('{} <a href="{}{}">{}</a>', hint, reverse(picker.url_name), back, picker.make)
