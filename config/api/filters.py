"""Filters of lists, declared with django-filter; the documents read the same declarations.

A value that can belong to nothing that exists (an unknown choice, a malformed uuid, a NUL) matches nothing; a time
that cannot be read is refused, because a misread one would match wrong things. A blank parameter counts as not sent.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import django_filters
from django import forms
from django.db.models import Model, QuerySet

from config.api.fields import ISO_DATE, NO_MARGIN, NO_TIME, OUT_OF_RANGE, DateTimeOutOfRange, parse_aware_datetime
from config.api.requests import NothingMatches, QueryParameters, is_storable, parse_uuid
from config.errors import InvalidInput

NO_DATE = "must be a date such as 2026-12-24."
Row = TypeVar("Row", bound=Model)


class _ParameterField(forms.Field):
    """One parameter of the query string as text, trimmed."""

    widget = forms.TextInput

    def clean(self, value: str | None) -> object:
        text = (value or "").strip()
        if not text:
            return None
        if not is_storable(text):
            raise NothingMatches
        return self.read(text)

    def read(self, text: str) -> object:
        return text


class _UUIDField(_ParameterField):
    def read(self, text: str) -> UUID:
        found = parse_uuid(text)
        if found is None:
            raise NothingMatches
        return found


class _ChoiceField(_ParameterField):
    def __init__(self, *, choices: Iterable[tuple[str, object]] = (), **options: Any) -> None:
        super().__init__(**options)
        self.values = {value for value, _ in choices}

    def read(self, text: str) -> str:
        if text not in self.values:
            raise NothingMatches
        return text


class _BooleanField(_ParameterField):
    def read(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise NothingMatches
        return text == "true"


class _DateTimeField(_ParameterField):
    def read(self, text: str) -> datetime:
        try:
            found = parse_aware_datetime(text, margin=NO_MARGIN)
        except DateTimeOutOfRange as error:
            raise forms.ValidationError(OUT_OF_RANGE) from error
        if found is None:
            raise forms.ValidationError(NO_TIME)
        return found


class _DateField(_ParameterField):
    def read(self, text: str) -> date:
        try:
            return date.fromisoformat(text if ISO_DATE.fullmatch(text) else "")
        except ValueError as error:
            raise forms.ValidationError(NO_DATE) from error


class TextFilter(django_filters.Filter):  # type: ignore[misc]  # the library has no types
    """A text as it is; `schema` is the parameter's form in the documents, as it is for the other filters."""

    field_class: ClassVar[type[forms.Field]] = _ParameterField
    schema: ClassVar[dict[str, object]] = {"type": "string"}


class UUIDFilter(TextFilter):
    field_class = _UUIDField
    schema: ClassVar[dict[str, object]] = {"type": "string", "format": "uuid"}


class BooleanFilter(TextFilter):
    field_class = _BooleanField
    schema: ClassVar[dict[str, object]] = {"type": "boolean"}


class DateTimeFilter(TextFilter):
    field_class = _DateTimeField
    schema: ClassVar[dict[str, object]] = {"type": "string", "format": "date-time"}


class DateFilter(TextFilter):
    field_class = _DateField
    schema: ClassVar[dict[str, object]] = {"type": "string", "format": "date"}


class ChoiceFilter(TextFilter):
    """One of `choices`, pairs of value and label."""

    field_class = _ChoiceField


def _refuse_errors(form: forms.Form) -> None:
    for name, refusals in form.errors.items():
        raise InvalidInput(f"The {name} parameter {refusals[0]}", field=name)


class FilterSet(django_filters.FilterSet):  # type: ignore[misc]  # the library has no types
    """Filters of one list. Where none of them was sent, the queryset stays as it is, and no form is built."""

    @classmethod
    def is_sent(cls, parameters: QueryParameters) -> bool:
        """Say whether any of the filters was sent."""
        return any(parameters.plain(name) for name in cls.base_filters)

    @classmethod
    def apply(cls, parameters: QueryParameters, queryset: "QuerySet[Row]") -> "QuerySet[Row]":
        """Keep what the parameters ask for. Raises `NothingMatches` and `InvalidInput`."""
        sent = cls._sent(parameters)
        if not sent:
            return queryset
        filtered = cls(data=sent, queryset=queryset)
        _refuse_errors(filtered.form)
        found: QuerySet[Row] = filtered.filter_queryset(queryset)
        return found

    @classmethod
    def values(cls, parameters: QueryParameters) -> dict[str, Any]:
        """Give what the parameters ask for by name, for lists that are found otherwise. Raises the same."""
        sent = cls._sent(parameters)
        if not sent:
            return {}
        form = cls(data=sent).form
        _refuse_errors(form)
        return {name: form.cleaned_data[name] for name in sent if form.cleaned_data[name] is not None}

    @classmethod
    def _sent(cls, parameters: QueryParameters) -> dict[str, str]:
        return {name: parameters.plain(name) for name in cls.base_filters if parameters.plain(name)}

    @classmethod
    def described(cls) -> Iterator[tuple[str, str, dict[str, object], bool]]:
        """Give each filter's name, meaning and schema, and whether it is required, for the documents."""
        for name, declared in cls.base_filters.items():
            choices = declared.extra.get("choices")
            enum = {"enum": [value for value, _ in choices]} if choices else {}
            is_required = declared.extra.get("required", False)
            yield name, declared.extra.get("help_text", ""), {**declared.schema, **enum}, is_required
