"""Forms about contacts and imports."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import EmailField, LineField, LongSelect, MultilineField, NameField
from agency.pages.registry import StrOrPromise
from workspaces.contacts.models import Contact, ContactImport
from workspaces.contacts.models.contacts import LONGEST_NAME, LONGEST_TAG, MOST_TAGS
from workspaces.contacts.services import ContactValues, countries
from workspaces.contacts.services.csv_files import ATTRIBUTE, LAST_NAME, MOST_BYTES, TARGETS
from workspaces.contacts.services.fields import country_of_zone
from workspaces.contacts.services.file_imports import rows_without_name
from workspaces.subaccounts.pages.business import timezone_choices

LONGEST_TAGS = MOST_TAGS * (LONGEST_TAG + 2)
LONGEST_ATTRIBUTES = 30_000
LONGEST_SAMPLE = 40
MOST_SAMPLES = 3
NOT_SET: tuple[str, StrOrPromise] = ("", _("Not set"))
ANY: tuple[str, StrOrPromise] = ("", _("Any"))
NO_LINE = _("Write each on a line of its own, such as “plan: gold”.")
MIB = 1024 * 1024


@lru_cache(maxsize=1)
def country_choices() -> list[tuple[str, str]]:
    return sorted(((code, f"{name} ({code})") for code, name in countries().items()), key=lambda choice: choice[1])


class TagsField(LineField):
    """Tags, separated by commas."""

    def __init__(self, **options: Any) -> None:
        help_text = options.pop("help_text", _("Separated by commas."))
        super().__init__(
            **{"label": _("Tags"), "required": False, "max_length": LONGEST_TAGS, "help_text": help_text, **options}
        )

    def prepare_value(self, value: object) -> object:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: object) -> list[str]:
        return [tag for part in super().clean(value).split(",") if (tag := part.strip())]

    def has_changed(self, initial: Any, data: str | None) -> bool:
        return bool(self.prepare_value(initial or []) != (data or ""))


class AttributesField(MultilineField):
    """Named texts, one on each line, such as `plan: gold`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            label=_("Details"),
            required=False,
            max_length=LONGEST_ATTRIBUTES,
            widget=forms.Textarea({"rows": 4}),
            help_text=NO_LINE,
            **options,
        )

    def prepare_value(self, value: object) -> object:
        return as_lines(value) if isinstance(value, Mapping) else value

    def clean(self, value: object) -> dict[str, str]:
        attributes = {}
        for line in filter(str.strip, super().clean(value).splitlines()):
            name, colon, text = line.partition(":")
            if not colon:
                raise forms.ValidationError(NO_LINE)
            attributes[name.strip()] = text.strip()
        return attributes

    def has_changed(self, initial: Any, data: str | None) -> bool:
        return as_lines(initial or {}) != (data or "").replace("\r\n", "\n")


def as_lines(attributes: Mapping[str, str]) -> str:
    """Write named texts as lines. A line break inside a text becomes a blank."""
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in attributes.items())


class ContactForm(forms.Form):
    name = NameField(required=False, max_length=LONGEST_NAME)
    phone = LineField(
        label=_("Phone number"),
        required=False,
        max_length=60,
        widget=forms.TextInput({"type": "tel"}),
        help_text=_("With the country's code, such as +49 30 1234567."),
    )
    email = EmailField(required=False)
    tags = TagsField()
    country = forms.ChoiceField(label=_("Country"), widget=LongSelect, required=False)
    timezone = forms.ChoiceField(label=_("Time zone"), widget=LongSelect, required=False)
    attributes = AttributesField()

    def __init__(self, data: Mapping[str, object] | None = None, *, contact: Contact | None = None) -> None:
        initial = {name: getattr(contact, name) for name in self.base_fields} if contact else {}
        super().__init__(data, initial=initial)
        self.fields["country"].choices = [NOT_SET, *country_choices()]  # type: ignore[attr-defined]
        self.fields["timezone"].choices = [NOT_SET, *timezone_choices()]  # type: ignore[attr-defined]

    def values(self) -> ContactValues:
        """Return the values for the service. For an existing contact, return only the changed ones."""
        names = self.changed_data if self.initial else self.fields
        return cast(ContactValues, {name: self.cleaned_data[name] for name in names})


class UploadForm(forms.Form):
    file = forms.FileField(
        label=_("CSV file"),
        widget=forms.ClearableFileInput({"accept": ".csv,text/csv"}),
        help_text=_("Up to 200,000 rows and 16 MiB. The first line names the columns."),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(_("The file may have at most %(most)s MiB.") % {"most": MOST_BYTES // MIB})
        return file


FIELD_LABELS = {
    "name": _("Name"),
    "first_name": _("First name"),
    "last_name": _("Last name"),
    "phone": _("Phone number"),
    "email": _("E-mail"),
    "tags": _("Tags"),
    "country": _("Country"),
    "timezone": _("Time zone"),
    "opted_out": _("Opted out"),
}


def column_name(heading: str, number: int) -> str:
    """Return a column's heading, or its number if it has no heading."""
    return heading or _("Column %(number)s") % {"number": number + 1}


def left_out(columns: Sequence[str], mapping: Sequence[str]) -> list[str]:
    """Name the columns that are not mapped to a field."""
    return [column_name(column, number) for number, column in enumerate(columns) if not mapping[number]]


class MappingForm(forms.Form):
    """Maps each column of a file to a contact field."""

    tags = TagsField(label=_("Tags for everybody in this file"))
    default_country = forms.ChoiceField(
        label=_("Country of numbers without a country's code"),
        widget=LongSelect,
        required=False,
        help_text=_("Numbers with a country's code stay as they are."),
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        contact_import: ContactImport,
        first_rows: Sequence[Sequence[str]] = (),
    ) -> None:
        self.contact_import, self.first_rows = contact_import, first_rows
        super().__init__(data)
        self.fields["default_country"].choices = [NOT_SET, *country_choices()]  # type: ignore[attr-defined]
        self.fields["default_country"].initial = country_of_zone(contact_import.workspace.timezone) or ""
        for number, column in enumerate(contact_import.columns):
            self.fields[f"column_{number}"] = forms.ChoiceField(
                label=column_name(column, number),
                required=False,
                choices=self._choices(column),
                help_text=self._samples(number),
                initial=contact_import.mapping[number],
            )

    def _choices(self, column: str) -> Sequence[tuple[str, StrOrPromise]]:
        name = column.strip().removeprefix(ATTRIBUTE)[:40]
        own = [(f"{ATTRIBUTE}{name}", _("Detail “%(name)s”") % {"name": name})] if name else []
        return [("", _("Leave out")), *((field, FIELD_LABELS[field]) for field in TARGETS), *own]

    def _samples(self, number: int) -> str:
        """Show sample cells of a column."""
        cells = [row[number].strip()[:LONGEST_SAMPLE] for row in self.first_rows if number < len(row)]
        return " · ".join(list(dict.fromkeys(filter(None, cells)))[:MOST_SAMPLES]) or str(_("Empty in the first rows."))

    def columns(self) -> list[forms.BoundField]:
        return [self[f"column_{number}"] for number in range(len(self.contact_import.columns))]

    def recognized(self) -> list[str]:
        """Name the columns whose headings are known, with the fields that they mean."""
        columns = zip(self.contact_import.columns, self.contact_import.mapping, strict=True)
        return [
            f"{column_name(column, number)} → {FIELD_LABELS.get(field, field.removeprefix(ATTRIBUTE))}"
            for number, (column, field) in enumerate(columns)
            if field
        ]

    def left_out(self) -> list[str]:
        """Name the columns that will not be imported with the form's current choices."""
        return left_out(self.contact_import.columns, self._chosen())

    def has_last_names(self) -> bool:
        """Say whether a column holds last names, with the form's current choices."""
        return LAST_NAME in self._chosen()

    def without_name(self) -> int:
        """Count the rows without a name, with the form's current choices."""
        return rows_without_name(self.contact_import, self._chosen())

    def _chosen(self) -> list[str]:
        return [column.value() or "" for column in self.columns()]

    def mapping(self) -> list[str]:
        return [self.cleaned_data[f"column_{number}"] for number in range(len(self.contact_import.columns))]
