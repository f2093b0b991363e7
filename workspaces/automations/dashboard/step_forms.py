"""The form of a step or a start, made from the fields that the registry declares for it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.forms.boundfield import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import LineField, LocalDecimalField, MultilineField
from workspaces.automations.dashboard.forms import LONGEST_LINE, SlotInputs, input_for
from workspaces.automations.flows.editing import Origins
from workspaces.automations.flows.fields import (
    AgencyAccount,
    Boolean,
    Choice,
    CustomerValue,
    Field,
    ListOf,
    Name,
    Number,
    Text,
    Variable,
    is_empty,
)
from workspaces.automations.flows.presentation import value_label
from workspaces.automations.flows.privacy import is_variable, unknown_variables

PREFIX: Final = "v-"
# Lists with plain short texts, such as keywords, are typed one a line.
LONGEST_OF_LINES: Final = 60
LEAST_ROWS: Final = 3
MORE_ROWS: Final = 3
LONG_SECRETS: Final = frozenset({"body", "code"})
NAME_PATTERN: Final = r"^[a-z][a-z0-9_]{0,39}\Z"
NAME_HINT = gettext_lazy("Lower-case letters, digits and _, beginning with a letter, such as: budget")
VARIABLE_HINT = gettext_lazy("For example contact.city, or answers.budget for an answer that you named budget.")
LINES_HINT = gettext_lazy("One on each line.")
VARIABLE_LIST: Final = "known-variables"


def no_unknown_variables(text: str) -> None:
    """Refuse a text with a variable that does not exist."""
    for name in unknown_variables(text):
        raise ValidationError(_("There is no variable {{%(name)s}}.") % {"name": name[:60]}, code="variable")


def a_variable(text: str) -> None:
    if not is_variable(text):
        raise ValidationError(_("This is not a variable."), code="variable")


def two_decimals(number: Decimal) -> None:
    if round(number, 2) != number:
        raise ValidationError(_("At most two decimal places are possible."), code="decimals")


class DecimalsField(LocalDecimalField):
    """A number with decimals of a flow, which keeps it as JSON does."""

    def clean(self, value: object) -> float | None:
        number = super().clean(value)
        return None if number is None else float(number)


@dataclass(frozen=True, slots=True)
class FormPart:
    """One input, or the rows of a list, each with its inputs."""

    input: BoundField | None = None
    label: str = ""
    name: str = ""
    rows: list[list[BoundField]] = field(default_factory=list)
    may_grow: bool = False


class ConfigForm(forms.Form):
    """The inputs of a step's fields. Values may stay empty until the automation is published.

    After `is_valid`, `config` holds the values, and `origins` the position that each item of a list had before.
    `typed` holds the values of a form that is only shown again, and `more` the name of a list that gets more rows.
    """

    def __init__(
        self,
        data: Any = None,
        *,
        declared: tuple[Field, ...],
        config: Mapping[str, object],
        inputs: SlotInputs,
        typed: Mapping[str, str] | None = None,
        more: str = "",
    ) -> None:
        super().__init__(data)
        self.declared, self.before, self.inputs = declared, config, inputs
        self.typed: Mapping[str, str] = typed or {}
        self.given: Mapping[str, str] = data or self.typed
        self.more = more
        self.row_counts: dict[str, int] = {}
        self.config: dict[str, object] = {}
        self.origins: dict[str, Origins] = {}
        for one in declared:
            if isinstance(one, ListOf) and not _is_typed_in_lines(one):
                self._add_rows(one)
            elif not isinstance(one, AgencyAccount):
                self._add(one, f"{PREFIX}{one.name}", config.get(one.name))

    def _add(self, declared: Field, name: str, value: object, label: str = "") -> None:
        label = label or _(declared.label)
        if not declared.required:
            label = _("%(label)s (optional)") % {"label": label}
        made = self._input(declared, name, label, value)
        self.fields[name] = made
        if name in self.typed:
            made.initial = self.typed[name]

    def _input(self, declared: Field, name: str, label: str, value: object) -> forms.Field:
        if isinstance(declared, CustomerValue):
            shown = value if isinstance(value, str) else ""
            chosen = self.inputs.field(declared, name=name, label=label, hint="", value=shown)
            return chosen or _customer_input(declared, label, shown)
        return _plain_input(declared, label, value)

    def _add_rows(self, declared: ListOf) -> None:
        items = _items(self.before.get(declared.name))
        count = self._count_rows(declared, len(items))
        self.row_counts[declared.name] = count
        for row in range(count):
            was = self.given.get(f"{PREFIX}{declared.name}-{row}-was") if self.given else str(row)
            at = int(was) if was and was.isdecimal() and int(was[:4]) < len(items) else None
            self.fields[f"{PREFIX}{declared.name}-{row}-was"] = forms.CharField(
                required=False, max_length=4, initial="" if at is None else str(at), widget=forms.HiddenInput
            )
            for below in declared.of:
                value = None if at is None else _value_of(items[at], below.name)
                label = _("%(label)s %(number)s") % {"label": _(below.label), "number": row + 1}
                self._add(below, f"{PREFIX}{declared.name}-{row}-{below.name}", value, label)

    def _count_rows(self, declared: ListOf, filled: int) -> int:
        sent = self.given.get(f"{PREFIX}{declared.name}-rows", "")
        count = int(sent[:4]) if sent[:4].isdecimal() else max(LEAST_ROWS, filled + 1)
        if self.more == declared.name:
            count += MORE_ROWS
        return min(max(count, filled if not sent else 1), declared.most)

    @property
    def parts(self) -> Iterator[FormPart]:
        """Give the inputs in their order, with the rows of each list together."""
        for one in self.declared:
            if one.name in self.row_counts and isinstance(one, ListOf):
                count = self.row_counts[one.name]
                rows = [self._row(one, row) for row in range(count)]
                yield FormPart(label=_(one.label), name=one.name, rows=rows, may_grow=count < one.most)
            elif f"{PREFIX}{one.name}" in self.fields:
                yield FormPart(input=self[f"{PREFIX}{one.name}"])

    def _row(self, declared: ListOf, row: int) -> list[BoundField]:
        names = ["was", *(below.name for below in declared.of)]
        return [self[f"{PREFIX}{declared.name}-{row}-{name}"] for name in names]

    def clean(self) -> dict[str, object]:
        cleaned: dict[str, object] = super().clean() or self.cleaned_data
        for one in self.declared:
            if one.name in self.row_counts and isinstance(one, ListOf):
                value: object = self._read_rows(one, cleaned)
            elif isinstance(one, AgencyAccount):
                value = self.before.get(one.name)
            else:
                value = _read(one, cleaned.get(f"{PREFIX}{one.name}"))
            if not is_empty(value):
                self.config[one.name] = value
        return cleaned

    def _read_rows(self, declared: ListOf, cleaned: Mapping[str, object]) -> list[object]:
        """Give the rows that are filled in. A row that was empty before, such as one to fill in, stays."""
        before, items, origins = _items(self.before.get(declared.name)), [], []
        for row in range(self.row_counts[declared.name]):
            sent = str(cleaned.get(f"{PREFIX}{declared.name}-{row}-was") or "")
            origin = int(sent) if sent.isdecimal() and int(sent) < len(before) else None
            values = {
                below.name: value
                for below in declared.of
                if not is_empty(value := _read(below, cleaned.get(f"{PREFIX}{declared.name}-{row}-{below.name}")))
            }
            was_empty = origin is not None and _is_empty_item(before[origin])
            if values or was_empty:
                items.append(values.get("") if declared.plain else values)
                origins.append(origin)
        self.origins[declared.name] = origins
        return items

    def add_refusals(self, errors: Mapping[str, list[str]]) -> None:
        """Put the sentences about values beside their inputs, else above the form."""
        for path, sentences in errors.items():
            name = f"{PREFIX}{path.replace('.', '-')}"
            for sentence in sentences:
                self.add_error(name if name in self.fields else None, sentence)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _value_of(item: object, name: str) -> object:
    if not name:
        return item
    return item.get(name) if isinstance(item, dict) else None


def _is_empty_item(item: object) -> bool:
    return all(is_empty(value) for value in item.values()) if isinstance(item, dict) else is_empty(item)


def _is_typed_in_lines(declared: ListOf) -> bool:
    plain = declared.plain
    return isinstance(plain, Text) and plain.most <= LONGEST_OF_LINES


def _customer_input(declared: CustomerValue, label: str, value: str) -> forms.CharField:
    if declared.of == "secret" and declared.name in LONG_SECRETS:
        return MultilineField(label=label, initial=value, required=False, max_length=2_048)
    return input_for(declared, label=label, hint="", value=value)


def _plain_input(declared: Field, label: str, value: object) -> forms.Field:
    """Make the input of a value that belongs to the flow."""
    options: dict[str, Any] = {"label": label, "initial": value, "required": False}
    if isinstance(declared, Choice):
        choices = [("", _("Choose…")), *((one, value_label(one)) for one in declared.options)]
        return forms.ChoiceField(choices=choices, **options)
    if isinstance(declared, Boolean):
        return forms.BooleanField(**options)
    if isinstance(declared, Number):
        bounds = {"min_value": declared.least, "max_value": declared.most, **options}
        if declared.decimals:
            return DecimalsField(validators=[two_decimals], **bounds)
        return forms.IntegerField(**bounds)
    return _text_input(declared, options)


def _text_input(declared: Field, options: dict[str, Any]) -> forms.Field:
    if isinstance(declared, Name):
        pattern = RegexValidator(NAME_PATTERN, NAME_HINT)
        attributes = forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"})
        return LineField(max_length=40, help_text=NAME_HINT, validators=[pattern], widget=attributes, **options)
    if isinstance(declared, Variable):
        attributes = forms.TextInput(attrs={"list": VARIABLE_LIST, "autocapitalize": "none", "spellcheck": "false"})
        return LineField(max_length=60, help_text=VARIABLE_HINT, validators=[a_variable], widget=attributes, **options)
    if isinstance(declared, ListOf):
        lines = "\n".join(str(one) for one in _items(options["initial"]) if not is_empty(one))
        most = declared.most * (LONGEST_OF_LINES + 1)
        options |= {"initial": lines, "help_text": LINES_HINT, "validators": [_LineCheck(declared)]}
        return MultilineField(max_length=most, widget=forms.Textarea(attrs={"rows": 4}), **options)
    most = declared.most if isinstance(declared, Text) else LONGEST_LINE
    options |= {"max_length": most, "validators": [no_unknown_variables]}
    if most > LONGEST_LINE:
        return MultilineField(widget=forms.Textarea(attrs={"rows": 4, "data-variables": ""}), **options)
    return LineField(widget=forms.TextInput(attrs={"data-variables": ""}), **options)


class _LineCheck:
    """Checks a list that is typed one item a line."""

    def __init__(self, declared: ListOf) -> None:
        self.most = declared.most

    def __call__(self, text: str) -> None:
        lines = _lines(text)
        if len(lines) > self.most:
            raise ValidationError(_("At most %(most)s lines are possible.") % {"most": self.most}, code="lines")
        if any(len(line) > LONGEST_OF_LINES for line in lines):
            raise ValidationError(
                _("A line can have at most %(most)s characters.") % {"most": LONGEST_OF_LINES}, code="line"
            )
        for line in lines:
            no_unknown_variables(line)


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))


def _read(declared: Field, value: object) -> object:
    """Give the value as the flow stores it; None for one that is not filled in."""
    if isinstance(declared, ListOf):
        return _lines(str(value or ""))
    if isinstance(declared, Boolean):
        return True if value else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(declared, CustomerValue) and isinstance(value, str):
        return value.strip() or None
    return None if is_empty(value) else value
