"""The typed fields of a step's configuration: their checks, and how a copy treats their values.

A field's type says to whom its value belongs: to the flow (texts, choices, numbers), to the customer (`CustomerValue`:
a copy clears it into a slot) or to the agency (`AgencyAccount`: a copy clears it without a slot).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from urllib.parse import urlsplit

from workspaces.automations.flows.privacy import (
    NAME,
    is_variable,
    is_workspace_variable,
    private_content,
    unknown_variables,
)

Path = tuple[str | int, ...]
LONGEST_VALUE = 2_048
EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(?:\.[^@\s.]+)+")
PHONE = re.compile(r"\+?\d(?:[ ().\-/]{0,2}\d){2,18}")


class FieldError(NamedTuple):
    """An error in a value, with its path below the field. `empty` says that the value is only not filled in yet."""

    path: Path
    sentence: str
    empty: bool = False


class ClearedValue(NamedTuple):
    """A value that a copy cleared, with the label that people see."""

    path: Path
    label: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """The base of all fields: one named value of a step's configuration."""

    name: str
    label: str
    required: bool = True
    kind: ClassVar[str] = ""

    def errors(self, value: object) -> Iterator[FieldError]:
        """Give the errors of a value that is not empty."""
        raise NotImplementedError

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        """Give the part of a valid value that a copy keeps, and the values that it clears."""
        return value, []

    def cleared(self) -> tuple[None, list[ClearedValue]]:
        return None, [ClearedValue((), self.label)]


def is_empty(value: object) -> bool:
    return value is None or value in ("", [])


def validate_fields(fields: tuple[Field, ...], values: object) -> Iterator[FieldError]:
    """Give the errors of an object against its declared fields."""
    if not isinstance(values, dict):
        yield FieldError((), "must be an object")
        return
    known = {field.name: field for field in fields}
    for name in values:
        if name not in known:
            yield FieldError((name,), "is not a field of this step")
    for name, field in known.items():
        value = values.get(name)
        if not is_empty(value):
            yield from (FieldError((name, *error.path), error.sentence, error.empty) for error in field.errors(value))
        elif field.required:
            yield FieldError((name,), "is not filled in", empty=True)


def sanitize(fields: tuple[Field, ...], values: Mapping[str, object]) -> tuple[dict[str, object], list[ClearedValue]]:
    """Rebuild an object from its declared fields only. Gives it with the cleared values."""
    kept: dict[str, object] = {}
    gone: list[ClearedValue] = []
    for field in fields:
        value = values.get(field.name)
        if is_empty(value):
            continue
        left, cleared = field.cleaned(value)
        if left is not None or cleared:
            kept[field.name] = left
        gone += [ClearedValue((field.name, *one.path), one.label) for one in cleared]
    return kept, gone


@dataclass(frozen=True, kw_only=True, slots=True)
class Text(Field):
    """Text that contacts or the team read, with or without variables. A copy clears private content into a slot."""

    most: int = 1_024
    kind: ClassVar[str] = "text"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, str) or not value.strip():
            yield FieldError((), "must be a text")
        elif len(value) > self.most:
            yield FieldError((), f"may have at most {self.most} characters")
        else:
            for unknown in unknown_variables(value):
                yield FieldError((), f"holds the unknown variable {{{{{unknown[:60]}}}}}")

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        return (value, []) if private_content(str(value)) is None else self.cleared()


@dataclass(frozen=True, kw_only=True, slots=True)
class Name(Field):
    """A name for an answer or a contact's field: lower-case letters, digits and `_`, at most 40."""

    kind: ClassVar[str] = "name"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, str) or not NAME.fullmatch(value):
            yield FieldError((), "must be lower-case letters, digits and _, beginning with a letter")

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        return (value, []) if private_content(str(value)) is None else self.cleared()


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable(Field):
    """The name of a variable without braces, such as `contact.city` or `answers.budget`."""

    kind: ClassVar[str] = "variable"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, str) or not is_variable(value):
            yield FieldError((), "must be a variable such as contact.city or answers.budget")

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        return (value, []) if private_content(f"{{{{{value}}}}}") is None else self.cleared()


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice(Field):
    """One of a few fixed values."""

    options: tuple[str, ...]
    kind: ClassVar[str] = "choice"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, str) or value not in self.options:
            yield FieldError((), f"must be one of: {', '.join(self.options)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Number(Field):
    """A number within bounds that are too small for a phone number or an id. Whole, unless `decimals` is set."""

    least: int = 0
    most: int = 10_000
    decimals: bool = False
    kind: ClassVar[str] = "number"

    def errors(self, value: object) -> Iterator[FieldError]:
        right_type = isinstance(value, int | float if self.decimals else int) and not isinstance(value, bool)
        number = value if right_type and isinstance(value, int | float) else self.least - 1
        if not self.least <= number <= self.most or round(number, 2) != number:
            yield FieldError((), f"must be a number from {self.least} to {self.most}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Boolean(Field):
    """Yes or no."""

    kind: ClassVar[str] = "flag"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, bool):
            yield FieldError((), "must be true or false")


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomerValue(Field):
    """An object or a value of the customer: a person, a calendar, a file, a number, an address … A copy clears it.

    `of` names the kind. `phone`, `email` and `url` hold the value itself, `member` and `team` the e-mail address of a
    person in the customer's workspace, all others an id in that workspace. A copy keeps a value that is one variable of
    the workspace, such as `{{workspace.website}}`, because every customer has a value for it.
    """

    of: str
    kind: ClassVar[str] = "own"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_VALUE:
            yield FieldError((), "must be a text")
        elif not is_workspace_variable(value) and not self._fits(value.strip()):
            yield FieldError((), f"must be a valid {'web address' if self.of == 'url' else self.label.lower()}")

    def _fits(self, value: str) -> bool:
        if self.of == "url":
            return _is_web_address(value)
        pattern = {"email": EMAIL, "phone": PHONE}.get(self.of)
        return pattern is None or pattern.fullmatch(value) is not None

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        return (value, []) if is_workspace_variable(str(value)) else self.cleared()


def _is_web_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and not any(character.isspace() for character in value)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgencyAccount(Field):
    """An account of the agency. A copy always clears it. Without it, the workspace's default is used."""

    required: bool = False
    kind: ClassVar[str] = "agency account"

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, str) or len(value) > LONGEST_VALUE:
            yield FieldError((), "must be a text")

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        return None, []


@dataclass(frozen=True, kw_only=True, slots=True)
class ListOf(Field):
    """A list of objects with the fields `of`. If `of` is a single field named ``""``, the items are plain values."""

    of: tuple[Field, ...]
    most: int = 10
    kind: ClassVar[str] = "list"

    @property
    def plain(self) -> Field | None:
        return self.of[0] if self.of[0].name == "" else None

    def errors(self, value: object) -> Iterator[FieldError]:
        if not isinstance(value, list) or len(value) > self.most:
            yield FieldError((), f"must be a list of at most {self.most} entries")
            return
        for position, one in enumerate(value):
            for error in self._item_errors(one):
                yield FieldError((position, *error.path), error.sentence, error.empty)

    def _item_errors(self, value: object) -> Iterator[FieldError]:
        if self.plain is None:
            return validate_fields(self.of, value)
        return iter([FieldError((), "is not filled in", empty=True)]) if is_empty(value) else self.plain.errors(value)

    def cleaned(self, value: object) -> tuple[object, list[ClearedValue]]:
        kept: list[object] = []
        gone: list[ClearedValue] = []
        for position, one in enumerate(value if isinstance(value, list) else ()):
            left, cleared = sanitize(self.of, one) if self.plain is None else self.plain.cleaned(one)
            kept.append(left)
            gone += [ClearedValue((position, *below.path), below.label) for below in cleared]
        return kept, gone
