"""Rows of an import: read one by one without a serializer, with the same refusals, and brought together by person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.errors import Invalid
from workspaces.contacts.models.contacts import email_key
from workspaces.contacts.services.fields.columns import EmailTaken
from workspaces.contacts.services.fields.values import CHECKS

Errors = dict[str, list[str]]
NO_ADDRESS = {"phone": ["A row needs a phone number or an e-mail address."]}
NO_OBJECT = {"contacts": ["Each entry of the contacts field must be an object."]}


@dataclass(slots=True)
class Row:
    """A row that can be read: its values in the forms in which they are kept, and where it stands."""

    index: int
    values: dict[str, Any]
    phone: str | None
    email_key: str | None
    repeats: list["Row"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RowError:
    """Why a row was not taken."""

    index: int
    errors: Errors


@dataclass(slots=True)
class ImportResult:
    """What has become of some rows."""

    created: int = 0
    updated: int = 0
    errors: list[RowError] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {"created": self.created, "updated": self.updated, "refused": len(self.errors)}

    def refuse(self, row: Row, error: Invalid) -> None:
        self.errors.append(RowError(row.index, error.errors))


def read_rows(rows: Sequence[Any], result: ImportResult) -> list[Row]:
    """Read rows; what is wrong with the others goes into the result. A row of the same person again joins its first."""
    by_phone: dict[str, Row] = {}
    by_email: dict[str, Row] = {}
    read: list[Row] = []
    for index, given in enumerate(rows):
        row = _read(index, given, result)
        if row is None:
            continue
        same_phone, same_email = by_phone.get(row.phone or ""), by_email.get(row.email_key or "")
        first = same_phone or same_email
        if first is None:
            read.append(row)
            first = row
        elif (same_email or first) is not first or not _agree(first, row):
            result.refuse(row, EmailTaken())
            continue
        else:
            first.repeats.append(row)
            first.phone, first.email_key = first.phone or row.phone, first.email_key or row.email_key
        for address, seen in ((first.phone, by_phone), (first.email_key, by_email)):
            if address:
                seen[address] = first
    return read


def _agree(first: Row, row: Row) -> bool:
    """Whether two rows can be one person's: they do not name two numbers, or two e-mail addresses."""
    return (first.phone or row.phone) == (row.phone or first.phone) and (first.email_key or row.email_key) == (
        row.email_key or first.email_key
    )


def _read(index: int, given: Any, result: ImportResult) -> Row | None:
    if not isinstance(given, Mapping):
        result.errors.append(RowError(index, NO_OBJECT))
        return None
    values, errors = checked_row(given)
    phone, email = values.get("phone"), values.get("email")
    if not (phone or email or errors):
        errors = NO_ADDRESS
    if errors:
        result.errors.append(RowError(index, errors))
        return None
    return Row(index, values, phone.number if phone else None, email_key(email) if email else None)


def checked_row(given: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
    """Check each field that a row fills; fields that are not known are not looked at, empty ones say nothing."""
    values: dict[str, Any] = {}
    errors: Errors = {}
    for name, check in CHECKS.items():
        value = given.get(name)
        if value is None:
            continue
        try:
            checked = check(value)
        except Invalid as refused:
            errors |= refused.errors
        else:
            if checked:
                values[name] = checked
    return values, errors
