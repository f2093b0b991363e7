"""What a slot is chosen from: products, services, categories, team members and files of the workspace itself."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.api.requests.parameters import is_storable
from config.db import like_pattern, name_key
from workspaces.automations.flows.fields import Field, Own
from workspaces.automations.models import Automation
from workspaces.catalogue.models import Product, Service, ServiceCategory
from workspaces.catalogue.services import products_to_choose, services_to_choose
from workspaces.classes.models import Staff
from workspaces.classes.services import staff_to_choose
from workspaces.media.models import Media
from workspaces.subaccounts.models import Workspace

MOST_OFFERED = 200
LONGEST_SEARCH = 100


@dataclass(frozen=True, slots=True)
class Picker:
    """What is offered of a workspace's rows of a table, those that a search finds, and where the first one is made.

    A flow names what is chosen by its public id.
    """

    model: type[Model]
    offered: Callable[[Workspace, str], Iterable[Any]]
    url_name: str
    make: str | Promise


def _products(workspace: Workspace, search: str) -> Iterable[Any]:
    return products_to_choose(workspace=workspace, search=search, most=MOST_OFFERED)


def _services(workspace: Workspace, search: str) -> Iterable[Any]:
    return services_to_choose(workspace=workspace, search=search, most=MOST_OFFERED)


def _staff(workspace: Workspace, search: str) -> Iterable[Any]:
    return staff_to_choose(workspace=workspace, search=search, most=MOST_OFFERED)


def _categories(workspace: Workspace, search: str) -> Iterable[Any]:
    rows = ServiceCategory.objects.of(workspace).by_name()
    return rows.filter(name_key__like=like_pattern(name_key(search)))[:MOST_OFFERED] if search else rows[:MOST_OFFERED]


def _files(workspace: Workspace, search: str) -> Iterable[Any]:
    rows = Media.objects.of(workspace).newest_first()
    return (rows.filter(filename__icontains=search) if search else rows)[:MOST_OFFERED]


def _automations(workspace: Workspace, search: str) -> Iterable[Any]:
    rows = Automation.objects.filter(workspace=workspace).order_by("name", "pk")
    return (rows.filter(name__icontains=search) if search else rows)[:MOST_OFFERED]


PICKERS = {
    "product": Picker(Product, _products, "app:product-new", gettext_lazy("Add a product")),
    "service": Picker(Service, _services, "app:service-new", gettext_lazy("Add a service")),
    "category": Picker(ServiceCategory, _categories, "app:service-category-new", gettext_lazy("Add a category")),
    "agent": Picker(Staff, _staff, "app:staff-new", gettext_lazy("Add a team member")),
    "automation": Picker(Automation, _automations, "app:gallery", gettext_lazy("Add an automation")),
    "media": Picker(Media, _files, "app:api-keys", gettext_lazy("Files come with messages, or through the REST API")),
}


class SearchedSelect(forms.Select):
    """A select with a search beside it, for more than it can offer: its button shows the form again, narrowed down."""

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
            _("Find more"),
            _("There are more: search by name"),
            self.searched,
            _("Search"),
        )


class Pickers:
    """The pickers of one page: what several slots choose from is read once. `sent` is what was typed into the form."""

    def __init__(self, workspace: Workspace, sent: Mapping[str, str] | None = None) -> None:
        self.workspace, self.sent = workspace, sent or {}
        self._offered: dict[tuple[str, str], dict[str, str]] = {}

    def field(
        self, declared: Field | None, *, name: str, label: str, hint: str, value: str
    ) -> forms.ChoiceField | None:
        """Make the input of a slot that is chosen; None for one that is written."""
        picker = PICKERS.get(declared.of) if isinstance(declared, Own) else None
        if picker is None or not isinstance(declared, Own):
            return None
        all_offered = self._choices(declared.of, picker)
        offered = self._choices(declared.of, picker, self._search(name))
        help_text = hint if all_offered else _linked(hint, picker)
        for one in filter(None, (self.sent.get(name, ""), value)):
            if one not in offered and (one == value or self._find(picker, one)):
                offered = {one: self._label_of(picker, one), **offered}
        choices = [("", _("Choose…")), *offered.items()]
        more = len(all_offered) >= MOST_OFFERED
        widget = SearchedSelect(search=self._search(name), name=name) if more else forms.Select()
        return forms.ChoiceField(
            choices=choices, label=label, help_text=help_text, initial=value, required=False, widget=widget
        )

    def _search(self, name: str) -> str:
        search = self.sent.get(f"{name}-search", "").strip()[:LONGEST_SEARCH]
        return search if is_storable(search) else ""

    def _choices(self, kind: str, picker: Picker, search: str = "") -> dict[str, str]:
        if (kind, search) not in self._offered:
            rows = picker.offered(self.workspace, search)
            self._offered[kind, search] = {str(row.uuid): str(row) for row in rows}
        return self._offered[kind, search]

    def _find(self, picker: Picker, value: str) -> Any:
        try:
            return picker.model._default_manager.filter(workspace=self.workspace, uuid=UUID(value)).first()
        except ValueError:
            return None

    def _label_of(self, picker: Picker, value: str) -> str:
        """Name what a slot holds and is not offered: it is past the bound, sold no more, gone, or never was an id."""
        return str(self._find(picker, value) or value)


def _linked(hint: str, picker: Picker) -> str:
    return format_html('{} <a href="{}">{}</a>', hint, reverse(picker.url_name), picker.make)
