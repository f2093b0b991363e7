"""Reads the rows of an import without a serializer, but with the same errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.errors import InvalidInput
from workspaces.contacts.models.contacts import email_key
from workspaces.contacts.services.fields.values import CHECKS

Errors = dict[str, list[str]]
NO_ADDRESS = {"phone": ["A row needs a phone number or an e-mail address."]}
NO_OBJECT = {"contacts": ["Each entry of the contacts field must be an object."]}


@dataclass(slots=True)
class Row:
    """A valid row: its values in the form in which they are stored, and its index."""

    index: int
    values: dict[str, Any]
    phone: str | None
    email_key: str | None


@dataclass(frozen=True, slots=True)
class RowError:
    """The reasons why a row was refused."""

    index: int
    errors: Errors


@dataclass(slots=True)
class ImportResult:
    """The counts and errors of imported rows."""

    created: int = 0
    updated: int = 0
    errors: list[RowError] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {"created": self.created, "updated": self.updated, "refused": len(self.errors)}

    def refuse(self, row: Row, error: InvalidInput) -> None:
        self.errors.append(RowError(row.index, error.errors))


def read_rows(rows: Sequence[Any], result: ImportResult) -> list[Row]:
    """Return the valid rows. Add the errors of the others to the result."""
    read = (_read(index, given, result) for index, given in enumerate(rows))
    return [row for row in read if row is not None]


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
    """Return a row's checked values and errors. Unknown and empty fields are ignored."""
    values: dict[str, Any] = {}
    errors: Errors = {}
    for name, check in CHECKS.items():
        value = given.get(name)
        if value is None:
            continue
        try:
            checked = check(value)
        except InvalidInput as refused:
            errors |= refused.errors
        else:
            if checked:
                values[name] = checked
    return values, errors
