"""The form of a segment: its name, and its conditions as rows that are added and removed without script."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple, Self
from zoneinfo import ZoneInfo

from django import forms
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from agency.pages.forms import LineField, LongSelect, NaiveDateTimeField, NameField
from agency.pages.registry import StrOrPromise
from config.api.text_fields import LONGEST_VALUE
from workspaces.contacts.dashboard.forms import ANY, TagsField, country_choices
from workspaces.contacts.models.contacts import MOST_ATTRIBUTES, SHOWN_PLATFORMS
from workspaces.contacts.services import FilterRefused, count_contacts
from workspaces.contacts.services.counting import count_matching
from workspaces.contacts.services.segments import checked_filter, known_details, known_tags, unknown_tags
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace
from workspaces.subaccounts.pages.business import timezone_choices

PARTS: Final = ("field", "operator", "name", "value")
LONGEST_DETAIL_NAME: Final = 40
MOST_VALUES_SUGGESTED: Final = 20
# The hidden field without which a form says nothing about the conditions.
HAS_ROWS: Final = "rows"
# The names of the buttons that only show the form again, each with what was typed.
ADD, REMOVE, COUNT = "add-", "remove-", "count"
MINUTES: Final = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True, slots=True)
class RowField:
    """What a row asks about: its label, the conditions of a filter that it can be, and how many rows may ask it."""

    label: StrOrPromise
    operators: Mapping[str, StrOrPromise]
    most: int = 1


FIELDS: Final[Mapping[str, RowField]] = {
    "tags": RowField(
        gettext_lazy("Tags"),
        {
            "tags_any": gettext_lazy("Has any of these tags"),
            "tags_all": gettext_lazy("Has all of these tags"),
            "tags_none": gettext_lazy("Has none of these tags"),
        },
        most=3,
    ),
    "country": RowField(gettext_lazy("Country"), {"country": ""}),
    "timezone": RowField(gettext_lazy("Time zone"), {"timezone": ""}),
    "has_channel": RowField(gettext_lazy("Channel"), {"has_channel": ""}),
    "attributes": RowField(gettext_lazy("Detail of the contact"), {"attributes": ""}, most=MOST_ATTRIBUTES),
    "created": RowField(
        gettext_lazy("Date added"),
        {"created_after": gettext_lazy("Added at or after"), "created_before": gettext_lazy("Added before")},
        most=2,
    ),
}
MOST_ROWS: Final = sum(one.most for one in FIELDS.values())
FIELD_OF: Final = {operator: name for name, field in FIELDS.items() for operator in field.operators}


def row_field(number: int, part: str) -> str:
    """Return the name of a field of a row."""
    return f"row-{number}-{part}"


def _row(condition: str, value: str, name: str = "") -> dict[str, str]:
    return {"field": FIELD_OF[condition], "operator": condition, "name": name, "value": value}


def one_line(text: str) -> str:
    """Write a text as one line, as a field shows it."""
    return " ".join(text.split())


def rows_of(filter: Mapping[str, Any], zone: ZoneInfo) -> list[dict[str, str]]:
    """Return the rows that show a stored filter. Times are shown in the time zone, to the minute."""
    rows = []
    for condition in (one for one in FIELD_OF if one in filter):
        value = filter[condition]
        if condition == "attributes":
            rows += [_row(condition, one_line(text), name) for name, text in value.items()]
        elif condition.startswith("tags_"):
            rows.append(_row(condition, ", ".join(value)))
        elif condition.startswith("created_"):
            moment = parse_datetime(value)
            rows.append(_row(condition, moment.astimezone(zone).strftime(MINUTES) if moment else ""))
        else:
            rows.append(_row(condition, value))
    return rows


@dataclass(slots=True)
class TypedSegment:
    """What stands in the form as text: the name and the rows. `says_rows` is false if a form sent the name alone."""

    name: str = ""
    rows: list[dict[str, str]] = field(default_factory=list)
    says_rows: bool = True

    @classmethod
    def sent(cls, data: Mapping[str, str]) -> Self:
        """Read what a form sent. Rows are numbered from 0 without a gap; only as many are read as can be added."""
        typed = cls(data.get("name", ""), says_rows=HAS_ROWS in data)
        number = 0
        while number < MOST_ROWS and row_field(number, "field") in data:
            row = {part: data.get(row_field(number, part), "") for part in PARTS}
            if typed.may_add(row["field"]):
                [first, *others] = FIELDS[row["field"]].operators
                typed.rows.append(row if others else {**row, "operator": first})
            number += 1
        return typed

    @property
    def values(self) -> dict[str, str]:
        """The texts by the names of the form's fields."""
        rows = {row_field(number, part): text for number, row in enumerate(self.rows) for part, text in row.items()}
        return {"name": self.name, **rows}

    def may_add(self, field: str) -> bool:
        """Say whether the form has room for another row about this field."""
        return field in FIELDS and sum(row["field"] == field for row in self.rows) < FIELDS[field].most

    def apply(self, button: str) -> None:
        """Add or remove a row, as the button says that was pressed."""
        name = button.removeprefix(ADD)
        if button.startswith(ADD) and self.may_add(name):
            taken = {row["operator"] for row in self.rows}
            operators = FIELDS[name].operators
            self.rows.append(_row(next((one for one in operators if one not in taken), next(iter(operators))), ""))
        number = button.removeprefix(REMOVE)
        if button.startswith(REMOVE) and number.isdecimal() and int(number) < len(self.rows):
            del self.rows[int(number)]


class RowFields(NamedTuple):
    """The fields of one row, for the template. `operator` and `name` are None in rows that need none."""

    number: int
    label: StrOrPromise
    field: forms.BoundField
    operator: forms.BoundField | None
    name: forms.BoundField | None
    value: forms.BoundField
    suggestions: list[str]


class SegmentForm(forms.Form):
    """A segment's name and conditions. With `bound` the texts are checked, else they are only shown.

    `kept` is the stored filter. A row that shows one of its conditions unchanged keeps the stored value.
    """

    name = NameField()

    def __init__(self, typed: TypedSegment, *, workspace: Workspace, kept: Mapping[str, Any], bound: bool) -> None:
        super().__init__(data=typed.values if bound else None, initial=None if bound else typed.values)
        self.typed, self.workspace, self.kept = typed, workspace, kept
        self.zone, self._conditions = ZoneInfo(workspace.timezone), dict[str, Any]()
        self._shown_before = rows_of(kept, self.zone)
        for number, row in enumerate(typed.rows):
            self.fields |= self._row_fields(number, row)

    def _row_fields(self, number: int, row: Mapping[str, str]) -> dict[str, forms.Field]:
        about = FIELDS[row["field"]]
        fields: dict[str, forms.Field] = {
            row_field(number, "field"): forms.CharField(required=False, widget=forms.HiddenInput)
        }
        if len(about.operators) > 1:
            fields[row_field(number, "operator")] = forms.ChoiceField(
                label=_("Condition"), choices=[*about.operators.items()]
            )
        if row["field"] == "attributes":
            fields[row_field(number, "name")] = LineField(
                label=_("Name of the detail"),
                required=False,
                max_length=LONGEST_DETAIL_NAME,
                widget=forms.TextInput({"list": "known-details", "autocomplete": "off"}),
            )
        return {**fields, row_field(number, "value"): self._value_field(number, row)}

    def _value_field(self, number: int, row: Mapping[str, str]) -> forms.Field:
        kind, label = row["field"], str(FIELDS[row["field"]].label)
        if kind == "tags":
            suggested = forms.TextInput({"list": "known-tags", "autocomplete": "off", "data-tags": True})
            return TagsField(label=label, widget=suggested)
        if kind == "created":
            return NaiveDateTimeField(label=label, required=False)
        if kind == "attributes":
            widget = forms.TextInput({"list": f"values-{number}", "autocomplete": "off"})
            return LineField(label=_("Value"), required=False, max_length=LONGEST_VALUE, widget=widget)
        choices: Mapping[str, Callable[[], Sequence[tuple[str, Any]]]] = {
            "country": country_choices,
            "timezone": timezone_choices,
            "has_channel": lambda: [(platform, CHANNEL_NAMES[platform]) for platform in SHOWN_PLATFORMS],
        }
        return forms.ChoiceField(
            label=label, widget=LongSelect, required=False, choices=[ANY, *choices[kind](), *self._older_choice(kind)]
        )

    def _older_choice(self, kind: str) -> list[tuple[str, str]]:
        """Offer the stored value as well if it is one that the API takes and the form's choices lack."""
        value = str(self.kept.get(kind, ""))
        if kind == "has_channel" and value and value not in SHOWN_PLATFORMS:
            return [(value, CHANNEL_NAMES[value])]
        is_alias = kind == "timezone" and value and value != "UTC" and ("/" not in value or value.startswith("Etc/"))
        return [(value, value)] if is_alias else []

    def clean(self) -> dict[str, object]:
        self._conditions = {}
        for number, row in enumerate(self.typed.rows):
            if not any(row_field(number, part) in self.errors for part in PARTS):
                self._add(number, row)
        try:
            self._conditions = checked_filter(self._conditions)
        except FilterRefused as refused:
            for path, sentences in refused.errors.items():
                for sentence in sentences:
                    self.add_error(self._field_with(path.split(".")[1]), in_page_language(sentence))
        return super().clean() or self.cleaned_data

    def _add(self, number: int, row: Mapping[str, str]) -> None:
        """Add a row's condition to the filter. Rows with the same condition join if the filter can say so."""
        condition = row["operator"]
        value, before = self._value(number, row, condition), self._conditions.get(condition)
        if condition == "attributes":
            self._add_detail(number, value)
        elif not value:
            return
        elif before is None:
            self._conditions[condition] = value
        elif condition in ("tags_all", "tags_none"):
            self._conditions[condition] = [*before, *value]
        else:
            self.add_error(
                row_field(number, "value"), _("This condition is there twice. Put both into one, or remove one.")
            )

    def _add_detail(self, number: int, detail: tuple[str, str]) -> None:
        name, text = detail
        found = self._conditions.get("attributes", {})
        if name in found:
            self.add_error(row_field(number, "name"), _("This detail is there twice. Remove one of the two."))
        elif name:
            self._conditions["attributes"] = {**found, name: text}
        elif text:
            self.add_error(row_field(number, "name"), _("Enter the name of the detail."))

    def _value(self, number: int, row: Mapping[str, str], condition: str) -> Any:
        value = self.cleaned_data.get(row_field(number, "value"))
        is_unchanged = row in self._shown_before
        if condition == "attributes":
            name = self.cleaned_data.get(row_field(number, "name"), "")
            return name, self.kept["attributes"][row["name"]] if is_unchanged else value
        if is_unchanged:
            return self.kept[condition]
        return value.replace(tzinfo=self.zone).isoformat() if isinstance(value, datetime) else value

    def _field_with(self, condition: str) -> str | None:
        """Return the name of the field that a condition comes from."""
        for number, row in enumerate(self.typed.rows):
            if row["operator"] == condition:
                return row_field(number, "value")
        return None

    def filter(self) -> dict[str, object]:
        """Return the checked filter of a valid form."""
        return self._conditions

    def shown_rows(self) -> Iterable[RowFields]:
        """Yield each row's fields for the template."""
        for number, row in enumerate(self.typed.rows):
            found = {part: self[name] for part in PARTS if (name := row_field(number, part)) in self.fields}
            suggested = self.details.get(row["name"].strip(), [])[:MOST_VALUES_SUGGESTED]
            yield RowFields(
                number,
                FIELDS[row["field"]].label,
                found["field"],
                found.get("operator"),
                found.get("name"),
                found["value"],
                suggested,
            )

    def addable(self) -> list[tuple[str, StrOrPromise]]:
        """Return the value and the label of each button that adds a row."""
        return [(f"{ADD}{name}", one.label) for name, one in FIELDS.items() if self.typed.may_add(name)]

    @cached_property
    def tags(self) -> list[str]:
        return known_tags(self.workspace) if any(row["field"] == "tags" for row in self.typed.rows) else []

    @cached_property
    def details(self) -> Mapping[str, list[str]]:
        is_asked = any(row["field"] == "attributes" for row in self.typed.rows)
        return known_details(self.workspace) if is_asked else {}

    @property
    def detail_names(self) -> list[str]:
        return list(self.details)[:MOST_ATTRIBUTES]


class Finding(NamedTuple):
    """How many of all contacts the conditions find. `size` is None if the count takes long, or a condition is wrong.

    No contact has the `unknown_tags`.
    """

    size: int | None
    total: int = 0
    is_wrong: bool = False
    unknown_tags: Sequence[str] = ()


def finding_of(form: SegmentForm) -> Finding:
    """Count what the rows of a form find, whatever its name is."""
    if set(form.errors) - {"name"}:
        return Finding(None, is_wrong=True)
    wanted = form.filter()
    return finding_with(count_matching(form.workspace, wanted), form.workspace, wanted)


def finding_with(size: int | None, workspace: Workspace, filter: Mapping[str, object]) -> Finding:
    """Return what a checked filter finds, given its size. A stored size may be older than the total, and above it."""
    total = max(count_contacts(workspace), size or 0)
    return Finding(size, total, unknown_tags=unknown_tags(workspace, filter))
