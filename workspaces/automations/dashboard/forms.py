"""The form of an automation's slots, with a select or a search for what people choose: products, services, files …."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Model, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _

from agency.models import User
from agency.pages.branding import in_page_language
from agency.pages.forms import LineField, MultilineField
from config.api.requests import is_storable
from config.db import like_pattern, name_key
from workspaces.automations.flows.fields import LONGEST_VALUE, CustomerValue, Field, ListOf, Text
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, NoSuchSlot, SlotKey, fill_in, value_in
from workspaces.automations.flows.presentation import translated_step_title
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.models import Automation
from workspaces.automations.services import SlotRefused
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff
from workspaces.catalogue.services import products_to_choose, services_to_choose, staff_to_choose
from workspaces.media.models import Media
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import people_of

OPENING_HOURS = "{{workspace.opening_hours}}"

# The value that a flow stores, and its name.
Choice = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ChoiceSource:
    """A source of choices. `offered` gives at most so many of the workspace's objects that match a search.

    `find` names an object that a slot holds though it is not offered: it is past the limit, or no longer sold. It gives
    None for an object that does not exist in this workspace. `url_name` is the page that creates such an object, and
    `make` the label of the link to it.
    """

    offered: Callable[[Workspace, str, int], Iterable[Choice]]
    find: Callable[[Workspace, str], Choice | None]
    url_name: str
    make: str | Promise


def _rows(
    model: type[Model], rows: Callable[[Workspace, str, int], Iterable[Any]], url_name: str, make: str | Promise
) -> ChoiceSource:
    """Offer rows of a table. A flow names them by their uuids."""

    def offered(workspace: Workspace, search: str, most: int) -> Iterable[Choice]:
        return [(str(row.uuid), str(row)) for row in rows(workspace, search, most)]

    def find(workspace: Workspace, value: str) -> Choice | None:
        try:
            row = model._default_manager.filter(workspace=workspace, uuid=UUID(value)).first()
        except ValueError:
            return None
        return (value, str(row)) if row else None

    return ChoiceSource(offered, find, url_name, make)


def _products(workspace: Workspace, search: str, most: int) -> Iterable[Model]:
    return products_to_choose(workspace=workspace, search=search, most=most)


def _services(workspace: Workspace, search: str, most: int) -> Iterable[Model]:
    return services_to_choose(workspace=workspace, search=search, most=most)


def _staff(workspace: Workspace, search: str, most: int) -> Iterable[Model]:
    return staff_to_choose(workspace=workspace, search=search, most=most)


def _categories(workspace: Workspace, search: str, most: int) -> Iterable[Model]:
    rows = ServiceCategory.objects.of(workspace).by_name()
    return rows.filter(name_key__like=like_pattern(name_key(search)))[:most] if search else rows[:most]


def _files(workspace: Workspace, search: str, most: int) -> Iterable[Model]:
    rows = Media.objects.of(workspace).newest_first()
    return (rows.filter(filename__icontains=search) if search else rows)[:most]


def _automations(workspace: Workspace, search: str, most: int) -> Iterable[Model]:
    rows = Automation.objects.filter(workspace=workspace).order_by("name", "pk")
    return (rows.filter(name__icontains=search) if search else rows)[:most]


def _people(workspace: Workspace, search: str, most: int) -> Iterable[Choice]:
    """Offer the people of the workspace. A flow names them by e-mail, as the assignment of conversations does."""
    rows = people_of(workspace).order_by("name", "pk")
    found = rows.filter(Q(name__icontains=search) | Q(email__icontains=search)) if search else rows
    return [_person(user) for user in found[:most]]


def _find_person(workspace: Workspace, value: str) -> Choice | None:
    user = people_of(workspace).filter(email=value).first() if is_storable(value) else None
    return _person(user) if user else None


def _person(user: User) -> Choice:
    return user.email, f"{user.name} ({user.email})" if user.name else user.email


def _calendars(workspace: Workspace, search: str, most: int) -> Iterable[Choice]:
    """Offer calendars: the opening hours of the whole business, and those of team members."""
    staff = STAFF.offered(workspace, search, most)
    return staff if search else [_opening_hours(), *staff][:most]


def _find_calendar(workspace: Workspace, value: str) -> Choice | None:
    return _opening_hours() if value == OPENING_HOURS else STAFF.find(workspace, value)


def _opening_hours() -> Choice:
    return OPENING_HOURS, _("The opening hours")


STAFF = _rows(Staff, _staff, "app:staff-new", gettext_lazy("Add a team member"))
PEOPLE = ChoiceSource(_people, _find_person, "app:person-invite", gettext_lazy("Invite somebody"))
# The picker for each `of` of a flow's field.
CHOICE_SOURCES = {
    "product": _rows(Product, _products, "app:product-new", gettext_lazy("Add a product")),
    "service": _rows(Service, _services, "app:service-new", gettext_lazy("Add a service")),
    "category": _rows(ServiceCategory, _categories, "app:service-category-new", gettext_lazy("Add a category")),
    "agent": STAFF,
    "calendar": ChoiceSource(_calendars, _find_calendar, STAFF.url_name, STAFF.make),
    "member": PEOPLE,
    "team": PEOPLE,
    "automation": _rows(Automation, _automations, "app:gallery", gettext_lazy("Add an automation")),
    "media": _rows(Media, _files, "app:api-keys", gettext_lazy("Files come with messages, or through the REST API")),
}


MOST_OFFERED = 200
LONGEST_SEARCH = 100


class SearchedSelect(forms.Select):
    """A select with a search beside it. The search button shows the form again with the choices that match."""

    def __init__(self, *, search: str, name: str) -> None:
        super().__init__()
        self.search, self.searched = search, name

    def render(self, name: str, value: object, attrs: Any = None, renderer: Any = None) -> SafeString:
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


class SlotInputs:
    """The inputs of one page, which read each list of choices once. `sent` holds the values typed into the form."""

    def __init__(self, workspace: Workspace, sent: Mapping[str, str] | None = None, *, back: str = "") -> None:
        """`back` is the page to which the user returns after creating a missing object."""
        self.workspace, self.sent, self.back = workspace, sent or {}, back
        self._offered: dict[tuple[str, str], dict[str, str]] = {}

    def field(
        self, declared: Field | None, *, name: str, label: str, hint: str, value: str
    ) -> forms.ChoiceField | None:
        """Make the input of a slot that people choose; None for a slot that they type."""
        picker = CHOICE_SOURCES.get(declared.of) if isinstance(declared, CustomerValue) else None
        if picker is None or not isinstance(declared, CustomerValue):
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
        picker = CHOICE_SOURCES.get(kind)
        if picker is None:
            return ""
        offered = self._choices(kind, picker).get(value)
        found = None if offered else picker.find(self.workspace, value)
        return offered or (found[1] if found else "")

    def _search(self, name: str) -> str:
        search = self.sent.get(f"{name}-search", "").strip()[:LONGEST_SEARCH]
        return search if is_storable(search) else ""

    def _choices(self, kind: str, picker: ChoiceSource, search: str = "") -> dict[str, str]:
        if (kind, search) not in self._offered:
            self._offered[kind, search] = dict(picker.offered(self.workspace, search, MOST_OFFERED))
        return self._offered[kind, search]

    def _linked(self, hint: str, picker: ChoiceSource) -> str:
        back = f"?{urlencode({'next': self.back})}" if self.back else ""
        return format_html('{} <a href="{}{}">{}</a>', hint, reverse(picker.url_name), back, picker.make)


LONGEST_LINE = 160
LONGEST_NAME = 40
INPUTS: dict[str, type[forms.Widget]] = {"url": forms.URLInput, "email": forms.EmailInput}


def declared_field(flow: Flow, slot_key: SlotKey) -> Field | None:
    """Find the declared field of a slot; None if the registry has no such field."""
    node, path = slot_key
    found: Field | None = None
    fields = _fields_of(flow, node)
    for part in path.split("."):
        if not part.isdigit():
            found = next((field for field in fields if field.name == part), None)
        elif isinstance(found, ListOf):
            fields, found = found.of, found.plain
        else:
            return None
    return found


def _fields_of(flow: Flow, node: str) -> tuple[Field, ...]:
    if node == TRIGGER_NODE:
        trigger = TRIGGERS.get(flow["trigger"]["type"])
        return trigger.fields if trigger else ()
    step = next((STEPS.get(one["type"]) for one in flow["steps"] if one["id"] == node), None)
    return step.fields if step else ()


def input_for(declared: Field | None, *, label: str, hint: str, value: str) -> forms.CharField:
    """Make the input of a slot that people type. It may stay empty, because people may fill in slots one by one."""
    options: dict[str, Any] = {"label": label, "help_text": hint, "initial": value, "required": False}
    if isinstance(declared, Text):
        options["max_length"] = declared.most
        if declared.most > LONGEST_LINE:
            return MultilineField(widget=forms.Textarea(attrs={"rows": 3}), **options)
        return LineField(**options)
    if isinstance(declared, CustomerValue):
        widget = INPUTS.get(declared.of, forms.TextInput)
        return LineField(max_length=LONGEST_VALUE, widget=widget(attrs={"spellcheck": "false"}), **options)
    return LineField(max_length=LONGEST_NAME, **options)


class SlotForm(forms.Form):
    """One input for each slot whose step is in the flow."""

    def __init__(self, data: Any = None, *, automation: Automation, typed: Mapping[str, str] | None = None) -> None:
        """Make the form, bound to `data`. `typed` holds the values of a form that is only shown again."""
        super().__init__(data)
        self.slot_keys: dict[str, SlotKey] = {}
        back = reverse("app:automation", args=[automation.uuid])
        self.automation = automation
        self.pickers = SlotInputs(automation.workspace, data or typed, back=back)
        for number, slot in enumerate(automation.slots, 1):
            slot_key = (slot["node"], slot["path"])
            try:
                value = value_in(automation.draft, slot_key)
            except NoSuchSlot:
                continue
            name = f"slot_{number}"
            declared = declared_field(automation.draft, slot_key)
            self.slot_keys[name] = slot_key
            told = {
                "label": gettext(slot["label"]),
                "hint": translated_step_title(slot["step"]),
                "value": "" if value is None else str(value),
            }
            self.fields[name] = self.pickers.field(declared, name=name, **told) or input_for(declared, **told)
            if typed and name in typed:
                self.fields[name].initial = typed[name]

    def flow_as_typed(self) -> Flow:
        """Give the draft with the form's present values, valid or not. It is for the preview, never for saving."""
        values = self.data if self.is_bound else {name: self.fields[name].initial for name in self.slot_keys}
        return fill_in(
            self.automation.draft, {slot_key: values.get(name, "") for name, slot_key in self.slot_keys.items()}
        )

    def changes(self) -> dict[SlotKey, object]:
        """Give the changed values. A value that was emptied is None."""
        given = self.cleaned_data
        changed = [name for name in self.slot_keys if given[name] != self.fields[name].initial]
        return {self.slot_keys[name]: given[name] or None for name in changed}

    def add_refusal(self, error: SlotRefused) -> None:
        """Add the errors to the inputs of the slots that they name."""
        for name, slot_key in self.slot_keys.items():
            for sentence in error.errors.get(".".join(slot_key), []):
                self.add_error(name, sentence)
        if not self.errors:
            self.add_error(None, in_page_language(error.message))
